// Package providertest has the tests that every adapter of a provider must pass.
//
// The adapter brings a fake that answers as the provider's documentation describes. This package puts a line between the
// adapter and the fake. The line injects the faults of networks: late, cut, garbled and redirected answers. They are the
// same for all adapters, so a fake need not implement them.
package providertest

import (
	"net/http"
	"testing"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// Suite is an adapter and the fake for its tests.
type Suite struct {
	// New returns the adapter of an account whose API is at base.
	New func(t *testing.T, base string, client *http.Client) gateway.Provider
	// Fake returns a fake provider that no other test uses.
	Fake func(t *testing.T) http.Handler
	// Tokens are the payment methods that the fake understands.
	Tokens Tokens
	// Step is the second step of a payment, if the adapter has one.
	Step Step
	// Stored describes the payment methods that the provider stores.
	Stored Stored
	// Declined is the event of a declined payment. It is soft_failed if the same payment could still succeed at the
	// provider.
	Declined fsm.Event
	// Settles is set if the answer to an automatic charge reports only the authorization. A later lookup reports the
	// payment.
	Settles bool
	// CancelsOnlyHeld is set if the provider refuses to cancel a payment before the customer confirms it.
	CancelsOnlyHeld bool
	// NoCurrency is set if the provider's answers name no currency.
	NoCurrency bool
	// Codeless is set if the provider refuses requests with a text and no code.
	Codeless bool
	// ForgetsPages is set if the provider can't look up a payment that the customer has not begun.
	ForgetsPages bool
	// Abandons is set if Cancel ends such a payment without a call. The provider takes no money for it without a further
	// request. A lookup still reports that the payment waits.
	Abandons bool
	// Links is set if a charge makes no call. The provider creates the payment when the customer opens the returned
	// address.
	Links bool
	// Charges are the tokens with a step of the customer that the charge itself may take money from, or whose customer
	// gets the step from the provider, too. If the response is lost, such a charge has no known end.
	Charges []string
	// Unmarked is set if the provider does not store our reference with a refund. Only the provider's id finds such a
	// refund.
	Unmarked bool
	// Customer pays on the provider's page with the token's payment method. It is nil if a charge's answer already
	// reports the payment.
	Customer func(t *testing.T, fake http.Handler, providerPaymentID, token string)
	// Order returns the id of the payment that the customer made on the page. It is set if a lookup by the charge's id
	// reports only that the payment waits. If it is nil, the charge's id shows the payment.
	Order func(t *testing.T, fake http.Handler, providerPaymentID string) string
	// NoPayment and NoRefund have the form of the provider's ids and do not exist.
	NoPayment, NoRefund string
	// Absent is the adapter's (kit.Adapter).
	Absent string
	// Key returns the idempotency key of a request; nil: the Idempotency-Key header. It is called only if the provider
	// has keys, see payment.Capabilities.KeyLife.
	Key func(r Request) string
	// Keyless reports the commands for which the provider takes no key; nil: no command.
	Keyless func(r Request) bool
	// Aside reports requests outside the port's calls, such as a request for an access token. Faults do not touch them.
	// Nil reports no request.
	Aside func(r Request) bool
}

// Tokens are payment methods. Redirect requires the customer's confirmation on another page, and is empty if the adapter
// has no such payments. None does not exist. Decline and None are empty if no charge is answered with a decline or a
// refusal.
type Tokens struct {
	Success, Decline, Redirect, None string
}

// Run runs the suite. Each test has its own fake, and the tests run in parallel.
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
		"unseen":                      unseen,
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
		"several captures":            severalCaptures,
		"the last of several":         lastOfSeveral,
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
		"an account's conformance holds":                  accountHolds,
		"an interrupt cleans up":                          accountStopped,
		"the doctor checks the keys":                      examined,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newRig(t, s))
		})
	}
	for _, f := range accountFaults() {
		t.Run("an account's conformance names "+string(f.fault), func(t *testing.T) {
			t.Parallel()
			accountFails(newRig(t, s), f)
		})
	}
}
