package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
)

// Account is an account that calls its provider; New is its adapter on a client.
type Account struct {
	Name string
	New  func(*http.Client) (gateway.Provider, error)
}

// absent is a payment that no provider has.
const absent = "paylatch-doctor-no-such-payment"

// OfAccounts returns the checks of accounts at providers. Each looks up a payment that does not exist, which checks the address,
// the credentials and the clock.
func OfAccounts(accounts []Account, client *http.Client, now func() time.Time) []Check {
	checks := make([]Check, len(accounts))
	for i, a := range accounts {
		checks[i] = Check{Name: "account " + a.Name, Run: func(ctx context.Context) []Finding { return account(ctx, a, client, now) }}
	}
	return checks
}

func account(ctx context.Context, a Account, client *http.Client, now func() time.Time) []Finding {
	seen := &recorder{next: client.Transport, now: now}
	recorded := *client
	recorded.Transport = seen
	p, err := a.New(&recorded)
	if err != nil || p == nil {
		return failed("accounts: "+a.Name, err, "correct its keys")
	}
	_, err = p.Lookup(ctx, absent)
	return seen.findings("accounts: "+a.Name, err)
}

// recorder keeps the last response of a provider.
type recorder struct {
	next http.RoundTripper
	now  func() time.Time

	mu     sync.Mutex
	status int
	apart  time.Duration
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	asked := r.now()
	next := r.next
	if next == nil {
		next = http.DefaultTransport
	}
	resp, err := next.RoundTrip(req)
	if err != nil {
		return nil, err //nolint:wrapcheck // a transport adds nothing
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = resp.StatusCode
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil && resp.Header.Get("Age") == "" {
		// The header has whole seconds.
		r.apart = apart(date, asked, r.now())
	}
	return resp, nil
}

// providersApart is how far a provider's clock may be from this one: signatures and tokens have times in them.
const providersApart = 30 * time.Second

func (r *recorder) findings(check string, err error) []Finding {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []Finding
	add := func(hurts bool, problem, remedy string) {
		if hurts {
			found = append(found, Finding{Check: check, Problem: problem, Remedy: remedy})
		}
	}
	switch {
	case r.status == 0 && err != nil && !errors.Is(err, gateway.ErrUnsupported):
		add(true, "the provider was not reached: "+err.Error(), "allow outgoing connections to its address, or correct base_url")
	case r.status == http.StatusUnauthorized, r.status == http.StatusForbidden:
		add(true, fmt.Sprintf("the provider refused the credentials (%d)", r.status), "correct the account's keys and their permissions at the provider")
	case r.status >= http.StatusInternalServerError:
		add(true, fmt.Sprintf("the provider responds with %d", r.status), "check the provider's status page; try again later")
	}
	add(r.apart > providersApart, fmt.Sprintf("the provider's clock and this machine's clock differ by about %s", r.apart.Round(time.Second)), "set this machine's clock by NTP")
	return found
}
