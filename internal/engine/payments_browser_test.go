package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// An order to another payee, made in the customer's browser with the attempt's id, is approved before it is paid. Its approval makes
// no payment of ours of it, also where the account's own name is not configured.
func paymentsBrowserMarkApproved(t *testing.T) {
	t.Parallel()
	p := newTill(nil)
	p.can = func(c *payment.Capabilities) { c.Identity = payment.IdentityByPayee }
	r := newEnv(t, setup{silent: true, provider: p.on})
	for order, id := range map[payment.OrderID]payment.AttemptID{
		"elsewhere": r.begun(t, "elsewhere", price, payment.CaptureAutomatic), "ours": r.paid(t, "ours", "tok_never").ID,
	} {
		before := r.attempt(t, id)
		for kind, want := range map[webhooks.Kind]fsm.Verdict{webhooks.KindProcessing: payment.Ignored, webhooks.KindSoftFailed: payment.Ignored} {
			e := under(kind, id, "order_x of "+string(order))
			e.Container, e.ProviderPaymentID, e.Payee, e.BrowserMark, e.Money = e.ProviderPaymentID, "", "acct_other", true, nil
			require.Equal(t, []fsm.Verdict{want}, r.tell(t, e), kind)
		}
		require.Equal(t, before.Facts(), r.attempt(t, id).Facts())
		require.Empty(t, r.attempt(t, id).Containers)
		require.Empty(t, r.about(t, id))
		e := of(webhooks.KindSucceeded, id, "pay_x of "+string(order), price)
		e.Container, e.Payee, e.BrowserMark = "order_x of "+string(order), "acct_other", true
		require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, e))
		require.Zero(t, r.attempt(t, id).Captured, "the shop has not received it")
		require.Equal(t, []string{"needs_review unproven_payment pay_x of " + string(order)}, r.about(t, id))
		require.NotEqual(t, payment.OrderPaid, r.orderOf(t, order).Status())
	}
	require.Empty(t, r.verify(t))
}

// A payment in another attempt's container, under another attempt's id, or that another attempt has already, is no payment of the
// attempt whose id a browser has written: it pays one order.
func paymentsBrowserMarkOfAnother(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// report changes the report of A's payment, given B.
		report func(e *webhooks.Event, b payment.AttemptID)
		// toB is set if the report is of a payment that B has.
		toB bool
	}{
		"container":            {report: func(e *webhooks.Event, _ payment.AttemptID) { e.Container = "order_B" }},
		"container alone":      {report: func(e *webhooks.Event, _ payment.AttemptID) { e.Container, e.ProviderPaymentID = "order_B", "" }},
		"id of the attempt":    {report: func(e *webhooks.Event, b payment.AttemptID) { e.References = []string{b.String()} }},
		"payment":              {report: func(e *webhooks.Event, _ payment.AttemptID) { e.ProviderPaymentID = "pay_B" }, toB: true},
		"payment, looked up":   {report: func(e *webhooks.Event, _ payment.AttemptID) { e.ProviderPaymentID, e.NeedsFetch = "pay_B", true }, toB: true},
		"container, looked up": {report: func(e *webhooks.Event, _ payment.AttemptID) { e.Container, e.NeedsFetch = "order_B", true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var in string
			look := &answering{lookup: func() (gateway.Outcome, error) {
				out, err := saysPaid("", price, "EUR")()
				out.Container = in
				return out, err
			}}
			r := newEnv(t, setup{silent: true, provider: look.on})
			a, b := r.paid(t, "A-1", "tok_never").ID, r.begun(t, "B-1", price, payment.CaptureAutomatic)
			named := under(webhooks.KindProcessing, b, "pay_B")
			named.Container = "order_B"
			require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, named))
			before := r.attempt(t, a)
			for _, kind := range []webhooks.Kind{webhooks.KindProcessing, webhooks.KindSoftFailed, webhooks.KindSucceeded} {
				e := of(kind, a, "pay_X", price)
				e.BrowserMark, e.References = true, nil
				if kind != webhooks.KindSucceeded {
					e.Money = nil
				}
				c.report(&e, b)
				in = e.Container
				for _, name := range []string{e.Container, e.ProviderPaymentID, a.String()} {
					if name != "" {
						e.References = slices.Insert(e.References, 0, name)
					}
				}
				r.tell(t, e)
				if e.NeedsFetch {
					r.retry(t, true)
				}
			}
			require.Equal(t, before.Facts(), r.attempt(t, a).Facts())
			require.NotEqual(t, payment.OrderPaid, r.orderOf(t, "A-1").Status())
			if !c.toB {
				require.Len(t, r.about(t, a), 1)
				require.Contains(t, r.about(t, a)[0], "unproven_payment")
				require.Zero(t, r.attempt(t, b).Captured)
				own := of(webhooks.KindSucceeded, b, "pay_X", price)
				own.Container = "order_B"
				require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, own))
			}
			require.Equal(t, payment.OrderPaid, r.orderOf(t, "B-1").Status())
			require.EqualValues(t, price, r.attempt(t, b).Captured)
			require.Zero(t, r.attempt(t, a).Captured)
			require.Empty(t, r.verify(t))
		})
	}
}

// A mark that a browser could have written ties a payment to the attempt only if that pays the whole amount.
func paymentsBrowserMark(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.begun(t, "A-1", price, payment.CaptureAutomatic)
	marked := func(kind webhooks.Kind, name string, minor int64) webhooks.Event {
		e := of(kind, id, name, minor)
		e.BrowserMark = true
		return e
	}
	before := r.attempt(t, id)
	require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, marked(webhooks.KindSucceeded, "pi_cent", 1)))
	a := r.attempt(t, id)
	require.Empty(t, a.Payments)
	require.Empty(t, a.Movements)
	require.Equal(t, before.Facts(), a.Facts())
	require.Equal(t, []string{"needs_review unproven_payment pi_cent"}, r.about(t, id))
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, marked(webhooks.KindSucceeded, "pi_whole", price)))
	a = r.attempt(t, id)
	require.True(t, a.Succeeded())
	require.Equal(t, payment.NamedByMark, a.Payment("pi_whole").NamedBy)
	r.tell(t, marked(webhooks.KindRefundSucceeded, "pi_cent", 1))
	require.Zero(t, r.attempt(t, id).Refunded, "nor is a refund of it one of the order's")
	require.Empty(t, r.verify(t))
}

// While a charge has not been answered, a payment that the customer's browser has made with the attempt's id says nothing of it, on
// the wire and after a lost response.
func paymentsBrowserMarkBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"on the wire": false, "lost": true} {
		for _, kind := range []webhooks.Kind{webhooks.KindFailed, webhooks.KindSoftFailed, webhooks.KindProcessing, webhooks.KindActionRequired} {
			for _, pageOpen := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%t", name, kind, pageOpen), func(t *testing.T) {
					t.Parallel()
					p := &spy{}
					r := newEnv(t, setup{silent: true, provider: p.on})
					stranger := func(id payment.AttemptID) {
						before := r.attempt(t, id)
						e := under(kind, id, "pi_stranger")
						e.BrowserMark, e.PageOpen = true, pageOpen
						require.Equal(t, []fsm.Verdict{payment.Ignored}, r.tell(t, e))
						require.Equal(t, before.Facts(), r.attempt(t, id).Facts())
						require.Empty(t, r.attempt(t, id).Payments)
					}
					p.charge = func(_ context.Context, c gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
						out, err := send()
						if !lost {
							stranger(c.Attempt)
							return out, err
						}
						return gateway.Outcome{}, errors.New("connection reset")
					}
					id := r.paid(t, "A-1", "tok_success").ID
					if lost {
						require.Equal(t, fsm.OutcomeUnknown, r.attempt(t, id).State)
						stranger(id)
						p.charge = nil
						r.recheck(t, id)
					}
					require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
					require.Len(t, r.attempt(t, id).Payments, 1)
					require.Empty(t, r.discrepancies(t, id))
					require.Len(t, r.ledger(t), 1)
					require.Empty(t, r.verify(t))
				})
			}
		}
	}
}

// Less than the price, without a capture of ours for it, never pays the order.
func paymentsUnaskedPart(t *testing.T) {
	t.Parallel()
	p := newTill(map[string]gateway.Outcome{"pi_0": ofEuros(fsm.EventSucceeded, 1), "pi_1": ofEuros(fsm.EventSucceeded, 1)})
	r := newEnv(t, setup{silent: true, provider: p.on})
	for i, capture := range []payment.CaptureMode{payment.CaptureAutomatic, payment.CaptureManual} {
		order, name := payment.OrderID(capture), fmt.Sprintf("pi_%d", i)
		id := r.begun(t, order, price, capture)
		require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, of(webhooks.KindSucceeded, id, name, 1)))
		r.recheck(t, id)
		a := r.attempt(t, id)
		require.False(t, a.State.Final(), capture)
		require.EqualValues(t, 1, a.Captured)
		require.NotEqual(t, payment.OrderPaid, r.orderOf(t, order).Status())
		require.NotContains(t, r.orderSays(t, order), "order.paid")
		require.Equal(t, []string{"amount_mismatch 0.01 EUR"}, r.about(t, id))
	}
	r.order(t, "ours")
	made, err := r.Pay(t.Context(), customer, request("pay ours", "first-key", ""), commands.Pay{
		OrderID: "ours", Details: gateway.Details{Token: "tok_never"}, Capture: payment.CaptureManual,
	})
	require.NoError(t, err)
	require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, of(webhooks.KindSucceeded, made.ID, made.ProviderPaymentID, 1)))
	require.NotEqual(t, payment.OrderPaid, r.orderOf(t, "ours").Status())
	require.Equal(t, []string{"amount_mismatch 0.01 EUR"}, r.about(t, made.ID))
}
