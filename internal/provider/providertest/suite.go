// Package providertest is what every adapter of a provider has to pass.
//
// The adapter brings a fake of its provider, which answers as the documentation
// says. Between the two stands a line of this package that can fail as networks
// do, so a fake need not: what is late, cut, garbled or redirected is the same
// for all.
package providertest

import (
	"net/http"
	"testing"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// Suite is an adapter and the fake that it is tested against.
type Suite struct {
	// New returns the adapter of an account whose API is at base.
	New func(t *testing.T, base string, client *http.Client) gateway.Provider
	// Fake returns a provider that nobody else uses.
	Fake func(t *testing.T) http.Handler
	// Tokens are those by which the fake does as they say.
	Tokens Tokens
	// Step is the second step of a payment, where there is one.
	Step Step
	// Stored are those that the provider keeps.
	Stored Stored
	// Declined is the news of a declined payment: soft_failed where the same
	// payment could still succeed at the provider.
	Declined fsm.News
	// Settles says that a charge that takes the money at once is only authorised by
	// its answer: a later lookup says that it is paid.
	Settles bool
	// CancelsOnlyHeld says that the provider refuses to cancel a payment that its
	// customer has not confirmed yet.
	CancelsOnlyHeld bool
	// NoCurrency says that the provider's answers name no currency.
	NoCurrency bool
	// Codeless says that the provider refuses requests in words only.
	Codeless bool
	// ForgetsPages says that the provider can't be asked for a payment that its
	// customer did not even try to make.
	ForgetsPages bool
	// Abandons says that such a payment is given up without a call, because the
	// provider takes nothing for it unless it is asked again: a lookup goes on to
	// say that it waits.
	Abandons bool
	// Links says that a charge makes no call: the provider has the payment once its customer
	// opens the address that the charge returned.
	Links bool
	// Unmarked says that the provider keeps no mark of ours with a refund, which is looked up by
	// the provider's id alone.
	Unmarked bool
	// Customer pays on the provider's page, with the method that the token stands
	// for, where no charge is paid in its answer; nil: they are.
	Customer func(t *testing.T, fake http.Handler, providerPaymentID, token string)
	// Order is the id of what the customer made by paying on the page, where the provider shows a payment by
	// that alone, and by the id that the charge returned only that it waits; nil: the charge's id shows all.
	Order func(t *testing.T, fake http.Handler, providerPaymentID string) string
	// NoPayment and NoRefund have the form of the provider's ids and are none.
	NoPayment, NoRefund string
	// Key finds the idempotency key of a request; nil: in Idempotency-Key. It is
	// asked where there are keys at all, see payment.Capabilities.KeyLife.
	Key func(r Request) string
	// Keyless tells the commands for which the provider takes no key; nil: none.
	Keyless func(r Request) bool
	// Aside tells requests that belong to no call of the port (for an access
	// token) and that nothing happens to; nil: none.
	Aside func(r Request) bool
}

// Tokens are payment methods. Redirect asks the customer to confirm elsewhere,
// and is empty where that can't happen; None is one that there isn't. Decline and
// None are empty where a charge is never answered so.
type Tokens struct {
	Success, Decline, Redirect, None string
}

// Run runs the suite: each test with a fake of its own, all in parallel.
func Run(t *testing.T, s Suite) {
	t.Helper()
	if s.Key == nil {
		s.Key = func(r Request) string { return r.Header.Get("Idempotency-Key") }
	}
	for name, test := range map[string]func(*rig){
		"success":                     success,
		"decline":                     decline,
		"invalid":                     invalid,
		"redirect":                    redirect,
		"A's instrument by B":         instrumentOfAnother,
		"stored without saying so":    storedWithoutSaying,
		"names":                       names,
		"lookup":                      lookup,
		"stale fetch":                 staleFetch,
		"nobody":                      nobody,
		"paths":                       paths,
		"at once":                     atOnce,
		"other amount":                otherAmount,
		"manual capture":              manualCapture,
		"partial capture":             partialCapture,
		"capture refused":             captureRefused,
		"complete":                    complete,
		"complete, answer lost":       completeLost,
		"complete, unreadable answer": completeUnheard,
		"complete without a permit":   completeNotSent,
		"cancel":                      cancel,
		"cancel refused":              cancelRefused,
		"refund":                      refundCall,
		"refund refused":              refundRefused,
		"a refund made in the dashboard is in the lookup": refundShown,
		"a hold is looked up in one call":                 holdShown,
		"refusal of an overtaken call":                    overtaken,
		"same key, same payment":                          sameKey,
		"lost answer":                                     lostAnswer,
		"server error":                                    serverError,
		"slow answer":                                     slowAnswer,
		"no connection":                                   noConnection,
		"no permit":                                       noLicence,
		"time-out after the request":                      timeOut,
		"cut after the request":                           cutLine,
		"later":                                           later,
		"garbled":                                         garbled,
		"elsewhere":                                       elsewhere,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newRig(t, s))
		})
	}
}
