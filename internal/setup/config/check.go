package config

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/paylatch/paylatch/internal/payment"
)

// service checks settings that only the running service needs.
func (r *report) service(c *Config) {
	if c.DatabaseURL == "" {
		r.add("database_url", "is missing: set a PostgreSQL, such as postgres://user:password@host/database; only `paylatch dev` starts its own")
	}
	if len(c.EncryptionKeys) == 0 {
		r.add("encryption_keys", "is missing: add [{id: k1, key: …}] with the output of `openssl rand -base64 32`, and keep a copy with the backups")
	}
	if len(c.Auth.Ring()) == 0 && len(c.Issuers()) == 0 && !c.Auth.KeysOnly && !r.touches("auth") {
		r.add("auth", "set hs256, jwks_url or issuers, because otherwise no token can be checked; or set keys_only, to accept only API keys and status tokens")
	}
	if len(c.Accounts) == 0 {
		r.add("accounts", "is missing: configure at least one account at a provider")
	}
	if able := c.chargeable(0); c.DefaultAccount == "" && len(able) > 1 {
		r.add("default_account", "several accounts can charge; choose one of %s", strings.Join(able, ", "))
	}
}

func (r *report) check(c *Config) {
	if c.Environment != "" {
		r.oneOf("environment", c.Environment, Live, Test, Dev)
	}
	if c.Environment == Live {
		r.live(c)
	}
	if _, err := time.LoadLocation(c.TimeZone); err != nil || c.TimeZone == "Local" {
		r.add("time_zone", "must be a time zone of the IANA database, such as Europe/Berlin or UTC")
	}
	r.addresses(c)
	r.database(c.DatabaseURL, c.Database)
	r.cells(c)
	r.tls(c.TLS)
	r.waiters(c)
	r.auth(c)
	r.console(c.Console.OIDC)
	for i, role := range c.Orders.CreatedBy {
		r.oneOf(index("orders.created_by", i), role, "service", "customer")
	}
	for i, right := range c.Orders.CustomersMay {
		r.oneOf(index("orders.customers_may", i), right, "capture_manual", "cancel_hold", "confirm", "confirm_part")
	}
	for i, scheme := range c.Orders.ReturnSchemes {
		if !payment.IsAppScheme(scheme) {
			r.add(index("orders.return_schemes", i), "must be the scheme of an app, in lower case and without a colon, such as myshop for myshop://paid; http and https are always allowed")
		}
	}
	r.durations(c)
	r.log(c.Log)
	r.tracing(c.Tracing)
	r.accounts(c)
	r.endpoints(c.Endpoints)
	r.streams(c.Streams)
	r.notices(c.Notices)
	if c.Environment == Live {
		r.clear(c)
		r.weak(c)
		r.exposed(c)
	}
}

func (r *report) addresses(c *Config) {
	if _, port, err := net.SplitHostPort(c.Listen); err != nil || !isPort(port) {
		r.add("listen", "must be host:port, such as 127.0.0.1:8080 or :8080")
	}
	if _, port, err := net.SplitHostPort(c.OperationsListen); c.OperationsListen != "" && (err != nil || !isPort(port)) {
		r.add("operations_listen", "must be host:port, such as 127.0.0.1:9091 or :9091")
	}
	if c.OperationsListen == c.Listen && !strings.HasSuffix(c.Listen, ":0") {
		r.add("operations_listen", "equals listen; choose another address, or leave the key out")
	}
}

// waiters checks the settings for pages that wait for a payment's end.
func (r *report) waiters(c *Config) {
	for i, origin := range c.CORSOrigins {
		if !isOrigin(origin) {
			r.add(index("cors_origins", i), "must be an origin as browsers send it, in lower case and without a path: https://host or https://host:port; write a non-ASCII host name as xn--…")
		}
	}
	if c.MaxWaiters < 1 {
		r.add("max_waiters", "must be at least 1")
	}
}

// isOrigin checks RFC 6454's form: no path, no user, and no port that is the scheme's own.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return false
	}
	standard := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	port := u.Port() == "" && !strings.HasSuffix(u.Host, ":") || isPort(u.Port()) && u.Port() != standard
	other := strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || r == '*' })
	return text == u.Scheme+"://"+strings.ToLower(u.Host) && port && !other
}

func (r *report) auth(c *Config) {
	r.encryptionKeys(c.EncryptionKeys)
	r.hs256(c.Auth)
	var names []string
	for i, of := range c.Auth.Issuers {
		key := index("auth.issuers", i)
		r.issuer(key, of, c)
		if slices.Contains(names, of.Issuer) || c.Auth.JWKSURL != "" && of.Issuer == c.Auth.Issuer {
			r.add(key+".issuer", "equals the iss of an earlier issuer, which would check the tokens of both")
		}
		names = append(names, of.Issuer)
		if len(of.Roles) == 0 {
			r.add(key+".roles", "is missing: list the allowed roles of this issuer's tokens")
		}
		for j, role := range of.Roles {
			r.oneOf(index(key+".roles", j), role, roles()...)
		}
	}
	if c.Auth.JWKSURL == "" {
		return
	}
	r.issuer("auth", c.Issuers()[0], c)
}

// issuer checks the issuer at a key.
func (r *report) issuer(key string, of Issuer, c *Config) {
	if of.JWKSURL == "" {
		r.add(key+".jwks_url", "is missing: the address of its keys")
	}
	r.url(key+".jwks_url", of.JWKSURL)
	if isPlain(of.JWKSURL) && !isHere(of.JWKSURL) {
		r.add(key+".jwks_url", "must begin with https://, because over http everybody on the network can replace the keys")
	}
	if of.Issuer == "" {
		r.add(key+".issuer", "is required with jwks_url: the iss of the issuer's tokens")
	}
	switch of.Audience {
	case "":
		r.add(key+".audience", "is required with jwks_url: without it paylatch would accept tokens for other services; register a name for this service at the issuer")
	case c.Console.OIDC.ClientID:
		r.add(key+".audience", "equals console.oidc.client_id, so paylatch would accept the ID tokens of console sign-ins as access tokens; register a separate name for the API")
	}
}

// callback is the path to which the OpenID provider redirects people.
const callback = "/support/sign-in/callback"

func (r *report) console(o OIDC) {
	if o.Issuer == "" {
		if o.ClientID != "" || o.RedirectURL != "" {
			r.add("console.oidc.issuer", "is missing: without it nobody can sign in")
		}
		return
	}
	r.url("console.oidc.issuer", o.Issuer)
	r.url("console.oidc.redirect_url", o.RedirectURL)
	if o.ClientID == "" {
		r.add("console.oidc.client_id", "is missing: without it the provider can't identify paylatch")
	}
	if !strings.HasSuffix(o.RedirectURL, callback) {
		r.add("console.oidc.redirect_url", "must be the service's public address, and end with %s", callback)
	}
	if !slices.Contains(o.Scopes, "openid") {
		r.add("console.oidc.scopes", "must contain openid")
	}
}

// leastKept is the minimum age of an entry of a log before it may be deleted; the database refuses younger entries, too.
const leastKept = 30 * 24 * time.Hour

func (r *report) durations(c *Config) {
	for _, d := range []struct {
		key   string
		value time.Duration
	}{
		{"idempotency.lease", c.Idempotency.Lease},
		{"idempotency.quota.per", c.Idempotency.Quota.Per},
		{"provider_timeout", c.ProviderTimeout},
		{"reconcile.after", c.Reconcile.After},
		{"reconcile.every", c.Reconcile.Every},
		{"retention.event_bytes", c.Retention.EventBytes},
		{"retention.events", c.Retention.Events},
		{"silent_after", c.SilentAfter},
		{"shutdown_timeout", c.ShutdownTimeout},
	} {
		r.positive(d.key, d.value)
	}
	for key, d := range map[string]time.Duration{"retention.audit": c.Retention.Audit, "retention.log": c.Retention.Log} {
		if d < leastKept {
			r.add(key, "must be at least %s (30 days)", leastKept)
		}
	}
	if s := c.Idempotency.ReusedStatus; s != http.StatusConflict && s != http.StatusUnprocessableEntity {
		r.add("idempotency.reused_status", "must be 409 or 422")
	}
	if c.Idempotency.Wait < 0 {
		r.add("idempotency.wait", "must not be negative")
	}
	if c.Idempotency.Quota.Per < time.Millisecond {
		r.add("idempotency.quota.per", "must be at least 1ms")
	}
	if c.Idempotency.Quota.NewKeys < 1 {
		r.add("idempotency.quota.new_keys", "must be at least 1")
	}
	if !r.touches("idempotency.lease") && c.ProviderTimeout >= c.Idempotency.Lease {
		r.add("provider_timeout", "must be shorter than idempotency.lease (%s): a call must end before another runner takes over", c.Idempotency.Lease)
	}
}

func (r *report) log(l Log) {
	r.oneOf("log.level", l.Level, "trace", "debug", "info", "warn", "error", "disabled")
	r.oneOf("log.format", l.Format, "json", "console")
}

var errOffline = errors.New("no network while the configuration is read")
