package engine_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// TestHoldIsTheMerchants shows that only the merchant's decision releases money on hold, after any request of the
// customer.
func TestHoldIsTheMerchants(t *testing.T) {
	t.Parallel()
	ends := map[string]func(t *testing.T, r *env, id payment.AttemptID) error{
		"attempt": func(t *testing.T, r *env, id payment.AttemptID) error {
			t.Helper()
			_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
			return err
		},
		"order": func(t *testing.T, r *env, _ payment.AttemptID) error {
			t.Helper()
			_, _, err := r.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-1")
			return err
		},
	}
	for name, end := range ends {
		t.Run(name+"_on_hold", func(t *testing.T) {
			t.Parallel()
			r := newStrictEnv(t)
			id := r.heldAs(t, "tok_success")
			require.Equal(t, fsm.Authorized, r.attempt(t, id).State)
			require.ErrorIs(t, end(t, r, id), payment.ErrForbidden)
			r.staysOnHold(t, id)
		})
		t.Run(name+"_approved_without_a_report", func(t *testing.T) {
			t.Parallel()
			r := newStrictEnv(t)
			id := r.heldAs(t, "tok_redirect")
			r.approveAtProvider(t, id)
			require.Equal(t, fsm.AwaitingCustomer, r.attempt(t, id).State)
			require.ErrorIs(t, end(t, r, id), payment.ErrForbidden)
			r.staysOnHold(t, id)
		})
		t.Run(name+"_with_an_unknown_outcome", func(t *testing.T) {
			t.Parallel()
			r := newStrictEnv(t)
			id := r.heldAs(t, "tok_hang_charged")
			require.Equal(t, fsm.OutcomeUnknown, r.attempt(t, id).State)
			require.ErrorIs(t, end(t, r, id), payment.ErrBusy)
			r.recheck(t, id)
			r.staysOnHold(t, id)
		})
		t.Run(name+"_before_the_hold", func(t *testing.T) {
			t.Parallel()
			r := newStrictEnv(t)
			id := r.heldAs(t, "tok_redirect")
			require.NoError(t, end(t, r, id))
			require.Equal(t, fsm.Failed, r.attempt(t, id).State)
		})
	}
	for name, end := range ends {
		t.Run(name+"_approved_and_the_lookup_fails", func(t *testing.T) {
			t.Parallel()
			look := &answering{}
			r := newStrictEnvOf(t, look.on)
			id := r.heldAs(t, "tok_redirect")
			r.approveAtProvider(t, id)
			look.lookup = func() (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }
			require.ErrorIs(t, end(t, r, id), payment.ErrBusy)
			look.lookup = nil
			require.ErrorIs(t, end(t, r, id), payment.ErrForbidden)
			require.Zero(t, look.cancels.Load())
			r.staysOnHold(t, id)
		})
		t.Run(name+"_approved_without_lookups", func(t *testing.T) {
			t.Parallel()
			look := &answering{can: func(c *payment.Capabilities) { c.Lookup = payment.LookupNone }}
			r := newStrictEnvOf(t, look.on)
			id := r.heldAs(t, "tok_redirect")
			require.ErrorIs(t, end(t, r, id), payment.ErrForbidden)
			require.Zero(t, look.cancels.Load())
			require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindAuthorized))
			r.approveAtProvider(t, id)
			r.staysOnHold(t, id)
		})
		t.Run(name+"_without_a_hold_and_without_lookups", func(t *testing.T) {
			t.Parallel()
			r := newStrictEnvOf(t, (&answering{can: func(c *payment.Capabilities) { c.Lookup = payment.LookupNone }}).on)
			id := r.tried(t, "tok_redirect", payment.CaptureAutomatic)
			require.NoError(t, end(t, r, id))
			require.Equal(t, fsm.Failed, r.attempt(t, id).State)
		})
	}
	for name, lookup := range map[string]func() (gateway.Outcome, error){
		"approved":               says(fsm.EventAuthorized),
		"and_the_lookup_fails":   func() (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer },
		"and_the_lookup_is_late": func() (gateway.Outcome, error) { return gateway.Outcome{}, gateway.ErrThrottled },
	} {
		t.Run("another_pay_after_a_declined_try_"+name, func(t *testing.T) {
			t.Parallel()
			look := &answering{lookup: lookup}
			r := newStrictEnvOf(t, look.on)
			id := r.heldAs(t, "tok_redirect")
			require.Equal(t, fsm.Applied, r.declines(t, id, "insufficient_funds"))
			_, err := try(t.Context(), r.service, "A-1", "second-key", "tok_success")
			var progress *payment.InProgressError
			require.ErrorAs(t, err, &progress)
			require.Equal(t, id, progress.Attempt.ID)
			require.Zero(t, look.cancels.Load())
		})
	}
	t.Run("second_pay", func(t *testing.T) {
		t.Parallel()
		r := newStrictEnv(t)
		id := r.heldAs(t, "tok_success")
		_, err := try(t.Context(), r.service, "A-1", "second-key", "tok_success")
		var progress *payment.InProgressError
		require.ErrorAs(t, err, &progress)
		r.staysOnHold(t, id)
	})
	t.Run("customer_with_the_right", func(t *testing.T) {
		t.Parallel()
		r := newEnv(t, setup{silent: true, change: func(o *options) { o.CustomersMay = []authz.Right{authz.CancelHold} }})
		id := r.heldAs(t, "tok_success")
		require.NoError(t, ends["attempt"](t, r, id))
		require.Equal(t, fsm.Failed, r.attempt(t, id).State)
	})
}

// newStrictEnv is an env whose customers have only the right to pay.
func newStrictEnv(t *testing.T) *env {
	t.Helper()
	return newStrictEnvOf(t, nil)
}

// newStrictEnvOf is newStrictEnv with another provider.
func newStrictEnvOf(t *testing.T, provider func(gateway.Provider) gateway.Provider) *env {
	t.Helper()
	return newEnv(t, setup{silent: true, provider: provider, change: func(o *options) { o.CustomersMay = nil }})
}

// heldAs begins a payment of order A-1 with a hold, by the shop for the customer.
func (r *env) heldAs(t *testing.T, token string) payment.AttemptID {
	t.Helper()
	r.order(t, "A-1")
	p, err := r.Pay(t.Context(), shop, request("pay A-1", "first-key", token), commands.Pay{
		OrderID: "A-1", Details: gateway.Details{Token: token, ReturnURL: "https://shop.example/back"}, Capture: payment.CaptureManual,
	})
	require.NoError(t, err)
	return p.ID
}

// approveAtProvider has the customer approve on the sandbox's page.
func (r *env) approveAtProvider(t *testing.T, id payment.AttemptID) {
	t.Helper()
	page := r.box + "/pay/" + r.attempt(t, id).ProviderPaymentID
	noRedirects := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := noRedirects.PostForm(page, url.Values{"decision": {"approve"}})
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Less(t, res.StatusCode, http.StatusBadRequest)
}

// staysOnHold requires that the money is still on hold: the shop captures it. No key was used up by a refusal.
func (r *env) staysOnHold(t *testing.T, id payment.AttemptID) {
	t.Helper()
	require.Empty(t, rows[string](t, r, "SELECT key FROM idempotency_keys WHERE key IN ('cancel-key', 'second-key')"))
	_, err := r.Confirm(t.Context(), shop, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
	require.NoError(t, err)
	require.Equal(t, int64(price), r.attempt(t, id).Captured)
}
