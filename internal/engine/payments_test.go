package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// An attempt has any number of payments, and each report and each call is about one of them.
func TestPayments(t *testing.T) {
	t.Parallel()
	t.Run("TwoPaymentsAreTwo", paymentsTwoAreTwo)
	t.Run("TwoPaymentsAreTwo, and the second is refunded by policy", paymentsSecondIsRefunded)
	t.Run("TwoPaymentsAreTwo, though the first was refunded", paymentsSecondAfterARefund)
	t.Run("AnotherPaymentsEndIsItsOwn", paymentsAnothersEndIsItsOwn)
	t.Run("AnotherPaymentsEndIsItsOwn, of a container", paymentsEndOfAContainer)
	t.Run("MoneyGoesToWhoHoldsIt", paymentsMoneyGoesToWhoHoldsIt)
	t.Run("MoneyGoesToWhoHoldsIt, by a further capture", paymentsFurtherCapture)
	t.Run("MoneyGoesToWhoHoldsIt, by a cancel", paymentsCancelGoesToAllThatMayTakeMoney)
	t.Run("a refund names its payment", paymentsRefundNamesItsPayment)
	t.Run("DebitUnderWay", paymentsDebitUnderWay)
	t.Run("PartsAddUp", paymentsPartsAddUp)
	t.Run("PartsAddUp, and their order's total is no part", paymentsPartsOfAnOrder)
	t.Run("PartsAddUp, a tip", paymentsTip)
	t.Run("UnaskedPartIsNoPayment", paymentsUnaskedPart)
	t.Run("UnaskedPartIsNoPayment, by a browser's mark", paymentsBrowserMark)
	t.Run("PaidToUs, approved by a browser's mark", paymentsBrowserMarkApproved)
	t.Run("PaidToUs, of another attempt by a browser's mark", paymentsBrowserMarkOfAnother)
	t.Run("PaidToUs, of another attempt in the bodies of providers", paymentsBrowserMarkBodies)
	t.Run("NotYetAnswered, by a browser's mark", paymentsBrowserMarkBeforeTheAnswer)
	t.Run("a refund of the second leaves the price", paymentsRefundLeavesThePrice)
	t.Run("the 51st is a discrepancy", paymentsFiftyFirst)
}

// begun registers an external payment, for an order of its own.
func (r *env) begun(t *testing.T, order payment.OrderID, minor int64, capture payment.CaptureMode) payment.AttemptID {
	t.Helper()
	_, _, err := r.CreateOrder(t.Context(), shop, request("orders", "order-"+string(order), string(order)),
		commands.CreateOrder{OrderID: order, Money: payment.Money{Minor: minor, Currency: "EUR"}})
	require.NoError(t, err)
	reply, err := r.Register(t.Context(), shop, request("attempts", uuid.NewString(), ""), commands.External{OrderID: order, Capture: capture})
	require.NoError(t, err)
	return reply.ID
}

// of is an event about one payment of an attempt with an amount.
func of(kind webhooks.Kind, id payment.AttemptID, name string, minor int64) webhooks.Event {
	e := under(kind, id, name)
	e.Money = &webhooks.Money{Minor: minor, Currency: "EUR"}
	return e
}

// stands is how each payment of an attempt stands.
func (r *env) stands(t *testing.T, id payment.AttemptID) map[string]fsm.PaymentState {
	t.Helper()
	all := map[string]fsm.PaymentState{}
	for _, p := range r.attempt(t, id).Payments {
		all[p.ID] = p.State
	}
	return all
}

// orderSays lists the types of the messages about an order.
func (r *env) orderSays(t *testing.T, id payment.OrderID) []string {
	t.Helper()
	return rows[string](t, r, "SELECT type FROM outbox WHERE order_id = $1 ORDER BY created_at, type", string(id))
}

func (r *env) wantedCancels(t *testing.T, id payment.AttemptID) []string {
	t.Helper()
	return rows[string](t, r, "SELECT payment FROM operations WHERE attempt_id = $1 AND kind = 'cancel' ORDER BY number", id.String())
}

// Money under two payments is money twice, with a gateway and without: both count, and a discrepancy is opened.
func paymentsTwoAreTwo(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*env{
		"without a gateway": deaf(t),
		"with one": newEnv(t, setup{silent: true, provider: newTill(map[string]gateway.Outcome{
			"pi_a": ofEuros(fsm.EventSucceeded, price), "pi_b": ofEuros(fsm.EventSucceeded, price),
		}).on}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := r.register(t, commands.External{}).ID
			require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, under(webhooks.KindSucceeded, id, "pi_a")))
			for _, want := range []fsm.Verdict{fsm.Conflict, fsm.Repeat} {
				require.Equal(t, []fsm.Verdict{want}, r.tell(t, under(webhooks.KindSucceeded, id, "pi_b")))
				require.Equal(t, []string{"needs_review second_payment pi_b"}, r.about(t, id))
			}
			require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, under(webhooks.KindSucceeded, id, "pi_a")))
			a := r.attempt(t, id)
			require.True(t, a.Succeeded())
			require.EqualValues(t, 2*price, a.Captured)
			require.EqualValues(t, price, a.Payment("pi_a").Captured)
			require.EqualValues(t, price, a.Payment("pi_b").Captured)
			require.Equal(t, "pi_a", a.ProviderPaymentID, "the first that holds money")
			texts := rows[string](t, r, "SELECT text FROM discrepancies WHERE attempt_id = $1", id.String())
			require.Contains(t, texts[0], "charged twice")
			require.Contains(t, texts[0], "pi_a")
			require.Contains(t, texts[0], "pi_b")
			require.Equal(t, payment.OrderPaid, r.orderOf(t, "A-1").Status())

			back := under(webhooks.KindRefundSucceeded, id, "pi_b")
			back.RefundID, back.Money = "re_dashboard", &webhooks.Money{Minor: price, Currency: "EUR"}
			r.tell(t, back)
			a = r.attempt(t, id)
			require.EqualValues(t, price, a.Payment("pi_a").Held(), "a refund in the dashboard is of the payment that it names")
			require.Zero(t, a.Payment("pi_b").Held())
			require.Empty(t, r.verify(t))
		})
	}
}

// A part came first, and then the whole price. Where the account refunds late money, the part goes back: the order stays paid.
func paymentsRefundLeavesThePrice(t *testing.T) {
	t.Parallel()
	p := newTill(map[string]gateway.Outcome{"pi_a": ofEuros(fsm.EventSucceeded, 500), "pi_b": ofEuros(fsm.EventSucceeded, price)})
	r := newEnv(t, setup{silent: true, provider: p.on, change: autoRefunds})
	id := r.register(t, commands.External{}).ID
	r.tell(t, of(webhooks.KindSucceeded, id, "pi_a", 500))
	r.tell(t, of(webhooks.KindSucceeded, id, "pi_b", price))
	r.everyOperation(t, id)
	require.Equal(t, []string{"refund pi_a"}, p.asked())
	a := r.attempt(t, id)
	require.EqualValues(t, price, a.Held())
	require.Equal(t, payment.OrderPaid, r.orderOf(t, "A-1").Status())
	require.Contains(t, r.about(t, id), "needs_review second_payment pi_b")
	require.Empty(t, r.verify(t))
}

func (r *env) orderOf(t *testing.T, id payment.OrderID) payment.Order {
	t.Helper()
	o, err := r.Order(t.Context(), shop, id)
	require.NoError(t, err)
	return o
}

// Where the account refunds late money, the second payment is refunded, and no other.
func paymentsSecondIsRefunded(t *testing.T) {
	t.Parallel()
	p := newTill(map[string]gateway.Outcome{"pi_a": ofEuros(fsm.EventSucceeded, price), "pi_b": ofEuros(fsm.EventSucceeded, price)})
	r := newEnv(t, setup{silent: true, provider: p.on, change: autoRefunds})
	id := r.register(t, commands.External{}).ID
	r.tell(t, under(webhooks.KindSucceeded, id, "pi_a"))
	r.tell(t, under(webhooks.KindSucceeded, id, "pi_b"))
	r.everyOperation(t, id)
	require.Equal(t, []string{"refund pi_b"}, p.asked())
	a := r.attempt(t, id)
	require.EqualValues(t, price, a.Payment("pi_a").Held())
	require.Zero(t, a.Payment("pi_b").Held())
	require.Equal(t, payment.OrderPaid, r.orderOf(t, "A-1").Status())
	require.Empty(t, r.verify(t))
}

// A second payment after the refund of the first one is a second payment, not a payment of another amount.
func paymentsSecondAfterARefund(t *testing.T) {
	t.Parallel()
	r := deaf(t)
	id := r.register(t, commands.External{}).ID
	back := under(webhooks.KindRefundSucceeded, id, "pi_a")
	back.RefundID, back.Money = "re_dashboard", &webhooks.Money{Minor: price, Currency: "EUR"}
	r.tell(t, under(webhooks.KindSucceeded, id, "pi_a"), back)
	require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, under(webhooks.KindSucceeded, id, "pi_b")))
	require.Equal(t, []string{"needs_review second_payment pi_b"}, r.about(t, id))
	require.Empty(t, r.verify(t))
}

// The end of another payment, in any way, does not change the payment that holds the money.
func paymentsAnothersEndIsItsOwn(t *testing.T) {
	t.Parallel()
	ends := map[string]func(id payment.AttemptID) []webhooks.Event{
		"declined": func(id payment.AttemptID) []webhooks.Event {
			return []webhooks.Event{under(webhooks.KindProcessing, id, "pi_b"), under(webhooks.KindFailed, id, "pi_b")}
		},
		"declined, and may try again": func(id payment.AttemptID) []webhooks.Event {
			return []webhooks.Event{under(webhooks.KindProcessing, id, "pi_b"), under(webhooks.KindSoftFailed, id, "pi_b")}
		},
		"never heard of before": func(id payment.AttemptID) []webhooks.Event {
			return []webhooks.Event{under(webhooks.KindFailed, id, "pi_b")}
		},
		"dated before": func(id payment.AttemptID) []webhooks.Event {
			e := under(webhooks.KindFailed, id, "pi_b")
			e.OccurredAt = time.Now().Add(-time.Hour)
			return []webhooks.Event{e}
		},
		"dated after": func(id payment.AttemptID) []webhooks.Event {
			e := under(webhooks.KindFailed, id, "pi_b")
			e.OccurredAt = time.Now().Add(time.Minute)
			return []webhooks.Event{e}
		},
	}
	holds := map[webhooks.Kind]fsm.PaymentState{
		webhooks.KindProcessing: fsm.PaymentProcessing, webhooks.KindAuthorized: fsm.PaymentAuthorized, webhooks.KindSucceeded: fsm.PaymentCaptured,
	}
	p := newTill(nil)
	r := newEnv(t, setup{silent: true, provider: p.on})
	for kind, state := range holds {
		for name, events := range ends {
			order := payment.OrderID(string(kind) + ", " + name)
			id := r.begun(t, order, price, payment.CaptureManual)
			a := "pi_a of " + string(order)
			r.tell(t, under(kind, id, a))
			before := r.attempt(t, id)
			require.Equal(t, state, before.Payment(a).State)
			for _, e := range events(id) {
				e.References = []string{id.String(), e.ProviderPaymentID + " of " + string(order)}
				e.ProviderPaymentID += " of " + string(order)
				r.tell(t, e)
			}
			after := r.attempt(t, id)
			require.Equal(t, before.State, after.State, order)
			require.Equal(t, *before.Payment(a), *after.Payment(a), order)
			require.Equal(t, a, after.ProviderPaymentID, order)
			require.Empty(t, r.wantedCancels(t, id), order)
			require.Empty(t, r.about(t, id), order)
		}
	}
	require.Empty(t, p.asked())
}

// A page that expires ends the payments in it that are open, and no other.
func paymentsEndOfAContainer(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, provider: newTill(nil).on})
	id := r.begun(t, "A-1", price, payment.CaptureManual)
	in := func(kind webhooks.Kind, name, container string) webhooks.Event {
		e := under(kind, id, name)
		e.Container = container
		return e
	}
	r.tell(t, in(webhooks.KindAuthorized, "pi_a", "cs_1"), in(webhooks.KindActionRequired, "pi_open", "cs_2"), in(webhooks.KindProcessing, "pi_debit", "cs_2"))
	over := event(webhooks.KindFailed, id.String(), "cs_2")
	over.Container, over.FailureCode = "cs_2", "expired"
	r.tell(t, over)
	require.Equal(t, map[string]fsm.PaymentState{"pi_a": fsm.PaymentAuthorized, "pi_open": fsm.PaymentFailed, "pi_debit": fsm.PaymentProcessing}, r.stands(t, id))
	over = event(webhooks.KindFailed, id.String(), "cs_1")
	over.Container, over.FailureCode = "cs_1", "expired"
	r.tell(t, over)
	require.Equal(t, map[string]fsm.PaymentState{"pi_a": fsm.PaymentAuthorized, "pi_open": fsm.PaymentFailed, "pi_debit": fsm.PaymentProcessing}, r.stands(t, id))
	require.Equal(t, fsm.Authorized, r.attempt(t, id).State)
	require.Empty(t, r.wantedCancels(t, id))
	require.Empty(t, r.about(t, id))
}

// The first card is refused (pi_b), the second one is authorized (pi_a): all calls are of pi_a.
func paymentsMoneyGoesToWhoHoldsIt(t *testing.T) {
	t.Parallel()
	p := newTill(map[string]gateway.Outcome{"pi_b": {Event: fsm.EventFailed}, "pi_a": ofEuros(fsm.EventAuthorized, price)})
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.begun(t, "A-1", price, payment.CaptureManual)
	r.tell(t, under(webhooks.KindProcessing, id, "pi_b"), under(webhooks.KindFailed, id, "pi_b"))
	require.Equal(t, "pi_b", r.attempt(t, id).ProviderPaymentID)
	r.tell(t, under(webhooks.KindAuthorized, id, "pi_a"))
	require.Equal(t, "pi_a", r.attempt(t, id).ProviderPaymentID)
	r.recheck(t, id)
	require.Equal(t, []string{"lookup pi_a"}, p.asked())
	_, err := r.Confirm(t.Context(), shop, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
	require.NoError(t, err)
	require.Equal(t, []string{"capture pi_a"}, p.asked())
	require.True(t, r.attempt(t, id).Succeeded())
	r.refund(t, id, "refund-1")
	require.Equal(t, []string{"refund pi_a"}, p.asked())
	require.Zero(t, r.attempt(t, id).Held())
	require.Empty(t, r.about(t, id))
}

// A further capture is of the hold that was captured in part (pi_b), not of a second hold (pi_a).
func paymentsFurtherCapture(t *testing.T) {
	t.Parallel()
	p := newTill(map[string]gateway.Outcome{"pi_b": ofEuros(fsm.EventAuthorized, price), "pi_a": ofEuros(fsm.EventAuthorized, price)})
	r := newEnv(t, setup{silent: true, provider: p.on, change: func(o *options) {
		account := o.Accounts["sandbox"]
		account.SecondHold = gateway.SecondHoldReviewed
		o.Accounts["sandbox"] = account
	}})
	id := r.begun(t, "A-1", price, payment.CaptureSeveral)
	r.tell(t, under(webhooks.KindAuthorized, id, "pi_b"))
	r.part(t, id, "one", 500)
	require.Equal(t, []string{"capture pi_b"}, p.asked())
	r.tell(t, under(webhooks.KindAuthorized, id, "pi_a"))
	require.Equal(t, fsm.PaymentAuthorized, r.stands(t, id)["pi_a"])
	r.part(t, id, "two", 700)
	calls := p.asked()
	require.Contains(t, calls, "capture pi_b")
	require.NotContains(t, calls, "capture pi_a")
}

// A cancel goes to each payment that may still take money, and to no failed payment.
func paymentsCancelGoesToAllThatMayTakeMoney(t *testing.T) {
	t.Parallel()
	p := newTill(map[string]gateway.Outcome{
		"pi_failed": {Event: fsm.EventFailed}, "pi_held": ofEuros(fsm.EventAuthorized, price), "pi_open": {Event: fsm.EventActionRequired},
	})
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.begun(t, "A-1", price, payment.CaptureManual)
	r.tell(t, under(webhooks.KindFailed, id, "pi_failed"), under(webhooks.KindAuthorized, id, "pi_held"), under(webhooks.KindActionRequired, id, "pi_open"))
	reply, err := r.Cancel(t.Context(), shop, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	calls := p.asked()
	require.Subset(t, calls, []string{"cancel pi_held", "cancel pi_open"})
	require.NotContains(t, calls, "cancel pi_failed")
	require.NotContains(t, calls, "lookup pi_failed")
	require.True(t, reply.Failed())
	require.Zero(t, r.attempt(t, id).OnHold())
	require.Empty(t, r.about(t, id))
}

// Where several payments hold money, a refund names its own.
func paymentsRefundNamesItsPayment(t *testing.T) {
	t.Parallel()
	p := newTill(map[string]gateway.Outcome{"pi_a": ofEuros(fsm.EventSucceeded, price), "pi_b": ofEuros(fsm.EventSucceeded, price)})
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.register(t, commands.External{}).ID
	r.tell(t, under(webhooks.KindFailed, id, "pi_c"), under(webhooks.KindSucceeded, id, "pi_a"), under(webhooks.KindSucceeded, id, "pi_b"))
	refund := func(key, name string, amount *int64) error {
		_, err := r.Refund(t.Context(), shop, request("refund", key, ""), commands.CreateRefund{AttemptID: id, ProviderPaymentID: name, Amount: amount})
		return err
	}
	require.ErrorIs(t, refund("refund-0", "", nil), payment.ErrPaymentAmbiguous)
	require.ErrorIs(t, refund("refund-1", "pi_nobody", nil), payment.ErrNotRefundable)
	require.ErrorIs(t, refund("refund-2", "pi_c", nil), payment.ErrNotRefundable)
	require.ErrorIs(t, refund("refund-3", "pi_b", new(int64(price+1))), payment.ErrRefundExceeds)
	require.Empty(t, p.asked())
	require.NoError(t, refund("refund-4", "pi_b", nil))
	require.Equal(t, []string{"refund pi_b"}, p.asked())
	a := r.attempt(t, id)
	require.Zero(t, a.Payment("pi_b").Held())
	require.EqualValues(t, price, a.Payment("pi_a").Held())
	require.ErrorIs(t, refund("refund-5", "pi_b", new(int64(1))), payment.ErrNotRefundable)
	require.NoError(t, refund("refund-6", "", nil), "one payment holds money")
	require.Equal(t, []string{"refund pi_a"}, p.asked())
	require.Zero(t, r.attempt(t, id).Held())
	require.Empty(t, r.verify(t))
}

// A debit that is under way outlives the time that the attempt was given.
func paymentsDebitUnderWay(t *testing.T) {
	t.Parallel()
	p := newTill(nil)
	for name, r := range map[string]*env{"without a gateway": deaf(t), "with one": newEnv(t, setup{silent: true, provider: p.on})} {
		p.stand("pi_a", gateway.Outcome{Event: fsm.EventProcessing})
		id := r.register(t, commands.External{ExpiresIn: time.Minute}).ID
		r.tell(t, under(webhooks.KindProcessing, id, "pi_a"))
		for range 3 {
			r.lateNow(t, id)
			r.recheck(t, id)
		}
		require.False(t, r.attempt(t, id).State.Final(), name)
		require.Empty(t, r.wantedCancels(t, id), name)
		_, err := r.Register(t.Context(), shop, request("attempts", uuid.NewString(), ""), commands.External{OrderID: "A-1", Capture: payment.CaptureAutomatic})
		var busy *payment.InProgressError
		require.ErrorAs(t, err, &busy, name)
		r.tell(t, under(webhooks.KindFailed, id, "pi_a"))
		p.stand("pi_a", gateway.Outcome{Event: fsm.EventFailed})
		r.lateNow(t, id)
		r.recheck(t, id)
		require.True(t, r.attempt(t, id).Failed(), "%s: nothing is under way any more", name)
		require.Empty(t, r.about(t, id), name)
	}
	require.NotContains(t, p.asked(), "cancel pi_a")
}

// Partial payments add up, in any order.
func paymentsPartsAddUp(t *testing.T) {
	t.Parallel()
	r := deaf(t)
	for i, parts := range [][]int64{{2000, 500}, {500, 2000}, {500, 500, 1500}} {
		order := payment.OrderID(fmt.Sprintf("A-%d", i))
		id := r.begun(t, order, 2500, payment.CaptureAutomatic)
		for n, part := range parts {
			require.False(t, r.attempt(t, id).State.Final())
			require.NotContains(t, r.orderSays(t, order), "order.paid")
			r.tell(t, of(webhooks.KindSucceeded, id, fmt.Sprintf("pi_%d_%d", i, n), part))
		}
		a := r.attempt(t, id)
		require.True(t, a.Succeeded())
		require.EqualValues(t, 2500, a.Captured)
		require.Contains(t, r.orderSays(t, order), "order.paid")
		found := r.discrepancies(t, id)
		require.Len(t, found, len(parts)-1, "each part that did not cover the amount when it came was told")
		require.NotContains(t, found, "needs_review", "nothing was charged twice")
	}
	require.Empty(t, r.verify(t))
}

// More than the amount pays the order. A discrepancy is opened unless the account accepts more.
func paymentsTip(t *testing.T) {
	t.Parallel()
	for excess, want := range map[payment.Excess][]string{payment.ExcessAccepted: {}, payment.ExcessReviewed: {"amount_mismatch 23.98 EUR"}} {
		r := newEnv(t, setup{silent: true, change: func(o *options) {
			o.Accounts = map[string]gateway.Account{"sandbox": {Excess: excess}}
		}})
		id := r.register(t, commands.External{}).ID
		r.tell(t, of(webhooks.KindSucceeded, id, "pi_a", 2398))
		a := r.attempt(t, id)
		require.True(t, a.Succeeded())
		require.EqualValues(t, 2398, a.Captured)
		require.Equal(t, payment.OrderPaid, r.orderOf(t, "A-1").Status())
		require.ElementsMatch(t, want, r.about(t, id))
	}
}

// Fifty payments of an attempt are recorded, and one more is a discrepancy.
func paymentsFiftyFirst(t *testing.T) {
	t.Parallel()
	r := deaf(t)
	id := r.register(t, commands.External{}).ID
	for i := range payment.MaxPayments {
		r.tell(t, under(webhooks.KindProcessing, id, fmt.Sprintf("pi_%d", i)))
	}
	require.Empty(t, r.about(t, id))
	for range 2 {
		require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, under(webhooks.KindSucceeded, id, "pi_more")))
		require.Equal(t, []string{"needs_review too_many_payments pi_more"}, r.about(t, id))
	}
	a := r.attempt(t, id)
	require.Len(t, a.Payments, payment.MaxPayments)
	require.Zero(t, a.Captured)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, under(webhooks.KindSucceeded, id, "pi_49")), "those that are known go on")
	require.True(t, r.attempt(t, id).Succeeded())
	require.Empty(t, r.verify(t))
}
