// Package conformance checks from outside whether a provider keeps the contract of the kind standard. It sends HTTP
// requests; the contract is docs/reference/standard-provider.md.
//
//	Run ─► checks, one after the other ─► a Result each
//	         └─ session: calls that the adapter makes, and calls that it never makes
//	receiver ◄─ the provider's webhooks, if it is given a listener
//
// The checks begin charges, capture, cancel and refund: run them only at a provider that moves no real money for the given
// tokens. A check is skipped if the provider refuses its request as not_supported, or if an earlier check that it needs has
// failed.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/webhooks"
)

// Options are a provider and how it is checked.
type Options struct {
	// URL is the provider's address, below which /v1 is; APIKey is sent as a bearer token. Without a key no check of credentials runs.
	URL, APIKey string
	Tokens      Tokens
	// Currency is the currency of the charges.
	Currency string
	// Listener receives the provider's webhooks, which Verifier verifies. Nil: no webhook is checked. Run closes it.
	Listener net.Listener
	Verifier webhooks.Verifier
	// Timeout bounds a call. Wait bounds the time for events that the contract allows to come later: the end of a charge that is
	// under way, and webhooks.
	Timeout, Wait time.Duration
	// Client must follow no redirects.
	Client *http.Client
	Now    func() time.Time
}

// Tokens are payment methods with which the provider acts as their names say. Decline and Redirect are empty if it has no such
// method.
type Tokens struct{ Success, Decline, Redirect string }

// Outcome is the outcome of a check.
type Outcome string

// The outcomes.
const (
	Passed  Outcome = "ok"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped"
)

// Result is a check that has ended.
type Result struct {
	Check   string  `json:"check"`
	Outcome Outcome `json:"result"`
	// Expected, Got and Remedy describe a failure: the expected and the received response, and the remedy.
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
	Remedy   string `json:"to_do,omitempty"`
	// Note is the reason for a skipped check, or a finding of a passed one.
	Note string `json:"note,omitempty"`
}

// ErrUnreachable is returned when nothing answers at the address: no check has run.
var ErrUnreachable = errors.New("the provider can't be reached")

// Run checks a provider and calls done after each check. It returns an error if it can't begin.
func Run(ctx context.Context, o Options, done func(Result)) error {
	s := newSession(o)
	if _, err := s.send(ctx, call{method: http.MethodGet, path: "/v1/charges?reference=" + s.reference()}); err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if o.Listener != nil {
		s.received = receive(o.Listener, o.Verifier, o.Timeout, o.Now)
		defer s.received.close()
	}
	outcomes := map[string]Outcome{}
	for _, c := range checks() {
		r := c.run(ctx, s, outcomes)
		if ctx.Err() != nil {
			return ctx.Err() //nolint:wrapcheck // the caller has ended it
		}
		outcomes[c.name] = r.Outcome
		done(r)
	}
	return nil
}
