package doctor

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// OfConfig returns the checks of the addresses in the configuration: the public addresses of this service, and the addresses
// from which it fetches keys and to which it sends events.
func OfConfig(c *config.Config, client *http.Client, now func() time.Time) []Check {
	valid := func(ctx context.Context, key, address string) []Finding { return certified(ctx, now, key, address) }
	checks := []Check{{Name: "configuration", Run: func(context.Context) []Finding { return slices.Concat(schedules(c), shared(c)) }}}
	add := func(name, key, address string, run func(ctx context.Context, key, address string) []Finding) {
		if address != "" {
			checks = append(checks, Check{Name: name, Run: func(ctx context.Context) []Finding { return run(ctx, key, address) }})
		}
	}
	fetch := func(ctx context.Context, key, address string) []Finding { return fetched(ctx, client, key, address) }
	add("token keys", "auth.jwks_url", c.Auth.JWKSURL, fetch)
	for i, of := range c.Auth.Issuers {
		add("keys of "+of.Issuer, fmt.Sprintf("auth.issuers[%d].jwks_url", i), of.JWKSURL, fetch)
	}
	if issuer := c.Console.OIDC.Issuer; issuer != "" {
		add("sign-in", "console.oidc.issuer", strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration", fetch)
	}
	add("sign-in's address", "console.oidc.redirect_url", c.Console.OIDC.RedirectURL, valid)
	for i, a := range c.Accounts {
		add("address of "+a.Name, fmt.Sprintf("accounts[%d].public_url", i), a.PublicURL, func(ctx context.Context, key, address string) []Finding {
			return append(public(ctx, key, address), valid(ctx, key, address)...)
		})
	}
	for i, e := range c.Endpoints {
		add("endpoint "+e.Name, fmt.Sprintf("endpoints[%d].url", i), e.URL, valid)
	}
	return checks
}

// schedules finds endpoints whose events are deleted by retention before their own last try.
func schedules(c *config.Config) []Finding {
	var found []Finding
	for i, e := range c.Endpoints {
		tries := e.Schedule
		if len(tries) == 0 {
			tries = endpoint.DefaultSchedule()
		}
		var last time.Duration
		for _, wait := range tries {
			last += wait
		}
		if last >= c.Retention.Events {
			found = append(found, Finding{
				Check:   fmt.Sprintf("endpoints[%d].schedule", i),
				Problem: fmt.Sprintf("the last try of an event is %s after the first try, but events are deleted after %s (retention.events)", last, c.Retention.Events),
				Remedy:  "shorten the schedule, or lengthen retention.events",
			})
		}
	}
	return found
}

// shared finds secrets that two parts have in common: a thief of the secret could pretend to be either part.
func shared(c *config.Config) []Finding {
	owners := map[config.Secret][]string{}
	note := func(s config.Secret, key string) {
		if s != "" && !slices.Contains(owners[s], key) {
			owners[s] = append(owners[s], key)
		}
	}
	for i, k := range c.Auth.HS256 {
		note(k.Secret, fmt.Sprintf("auth.hs256[%d]", i))
	}
	note(c.Auth.HS256Secret, "auth.hs256_secret")
	for i, a := range c.Accounts {
		for _, s := range a.WebhookSecrets {
			note(s, fmt.Sprintf("accounts[%d].webhook_secrets", i))
		}
	}
	for i, e := range c.Endpoints {
		for _, s := range e.Secrets {
			note(s, fmt.Sprintf("endpoints[%d].secrets", i))
		}
	}
	var found []Finding
	for _, keys := range owners {
		if len(keys) > 1 {
			slices.Sort(keys)
			found = append(found, Finding{
				Check: keys[0], Problem: "the same secret is configured in " + strings.Join(keys[1:], ", "),
				Remedy: "give each account its own secret: with a shared secret, one account's provider could sign webhooks for the other account",
			})
		}
	}
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.Check, b.Check) })
	return found
}

func fetched(ctx context.Context, client *http.Client, key, address string) []Finding {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return failed(key, err, "correct the address")
	}
	resp, err := client.Do(req)
	if err != nil {
		return []Finding{{Check: key, Problem: "the address can't be fetched: " + err.Error(), Remedy: "allow outgoing connections to it, or correct the address"}}
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return []Finding{{Check: key, Problem: fmt.Sprintf("%s responds with %d", address, resp.StatusCode), Remedy: "correct the address"}}
	}
	return nil
}

// public finds addresses that a provider can't send to.
func public(ctx context.Context, key, address string) []Finding {
	u, err := url.Parse(address)
	if err != nil {
		return failed(key, err, "correct the address")
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return []Finding{{Check: key, Problem: "the host name can't be resolved: " + err.Error(), Remedy: "correct the address or the DNS"}}
	}
	for _, a := range all {
		if !endpoint.IsPublic(a) {
			return []Finding{{
				Check: key, Problem: fmt.Sprintf("%s resolves to %s, which no provider can reach", u.Hostname(), a),
				Remedy: "set the service's public address, or use `paylatch listen` while developing",
			}}
		}
	}
	return nil
}

// expiresSoon is when a certificate should have been renewed.
const expiresSoon = 14 * 24 * time.Hour

// certified finds an address that does not answer, or only with a certificate that is not valid, or soon is not.
func certified(ctx context.Context, now func() time.Time, key, address string) []Finding {
	u, err := url.Parse(address)
	if err != nil {
		return failed(key, err, "correct the address")
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	at := net.JoinHostPort(u.Hostname(), port)
	if u.Scheme != "https" {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", at)
		if err != nil {
			return []Finding{{Check: key, Problem: "can't connect: " + err.Error(), Remedy: "start the service there, or correct the address"}}
		}
		_ = conn.Close()
		return nil
	}
	conn, err := (&tls.Dialer{}).DialContext(ctx, "tcp", at)
	if err != nil {
		return []Finding{{Check: key, Problem: "can't connect by TLS: " + err.Error(), Remedy: "start the service there, renew its certificate with the whole chain, or correct the address"}}
	}
	defer func() { _ = conn.Close() }()
	secured, ok := conn.(*tls.Conn)
	if !ok {
		return nil
	}
	left := secured.ConnectionState().PeerCertificates[0].NotAfter.Sub(now())
	if left > expiresSoon {
		return nil
	}
	return []Finding{{Check: key, Problem: fmt.Sprintf("the certificate expires in %d days", int(left.Hours()/24)), Remedy: "renew the certificate"}}
}
