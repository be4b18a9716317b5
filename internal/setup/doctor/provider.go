package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
)

// Account is an account that calls its provider; New is its adapter on a client. Absent is the id of a payment that does not exist, in
// the form of the provider's ids; empty if the provider's ids have no special form.
type Account struct {
	Name, Absent string
	New          func(*http.Client) (gateway.Provider, error)
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
	_, err = p.Lookup(ctx, cmp.Or(a.Absent, absent))
	return seen.findings("accounts: "+a.Name, err)
}

// recorder keeps the last response of a provider.
type recorder struct {
	next http.RoundTripper
	now  func() time.Time

	mu     sync.Mutex
	called bool
	status int
	apart  time.Duration
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	asked := r.now()
	r.mu.Lock()
	r.called = true
	r.mu.Unlock()
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
	case !r.called && absence(err):
		return []Finding{notChecked(check, "the adapter sends no request for this lookup")}
	case r.status == 0 && err != nil:
		add(true, "the provider was not reached: "+err.Error(), "allow outgoing connections to its address, or correct base_url")
	case r.status == http.StatusUnauthorized, r.status == http.StatusForbidden:
		add(true, fmt.Sprintf("the provider refused the credentials (%d)", r.status), "correct the account's keys and their permissions at the provider")
	case r.status >= http.StatusInternalServerError:
		add(true, fmt.Sprintf("the provider responds with %d", r.status), "check the provider's status page; try again later")
	case r.status >= http.StatusBadRequest && err != nil && !errors.Is(err, gateway.ErrNoSuchPayment):
		found = append(found, notChecked(check, fmt.Sprintf("the provider responded with %d to the lookup of a missing payment: %s", r.status, err)))
	case r.status < http.StatusBadRequest && !absence(err):
		add(true, fmt.Sprintf("the lookup of a missing payment failed: %s", err), "correct the account's keys, their permissions and the allowed addresses at the provider, or correct base_url")
	}
	add(r.apart > providersApart, fmt.Sprintf("the provider's clock and this machine's clock differ by about %s", r.apart.Round(time.Second)), "set this machine's clock by NTP")
	return found
}

// notChecked is the note that the lookup shows nothing about the account's keys.
func notChecked(check, why string) Finding {
	return Finding{
		Check: check, Note: true, Problem: "the account's keys were not checked: " + why, Remedy: "make a test payment; its result shows whether the keys are correct",
	}
}

// absence reports whether the result of a lookup is no failure: the provider has no such payment, or a payment was found or can't be looked up.
func absence(err error) bool {
	return err == nil || slices.ContainsFunc([]error{
		gateway.ErrNoSuchPayment, gateway.ErrInconclusive, gateway.ErrUnsupported, gateway.ErrUnsupportedRequest,
	}, func(known error) bool { return errors.Is(err, known) })
}
