package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// TestMessagesAfterAnErasure: what was erased with a customer stays erased, whatever the provider sends later.
func TestMessagesAfterAnErasure(t *testing.T) {
	t.Parallel()
	t.Run("about_the_method", erasedMethodTold)
	t.Run("about_the_method_by_a_hint", erasedMethodHinted)
	t.Run("about_the_payment", erasedPaymentTold)
	t.Run("about_a_payment_of_another_mode", erasedPaymentOfTheOtherMode)
}

// erase erases the customer u1, as the command does.
func (r *env) erase(t *testing.T) {
	t.Helper()
	r.exec(t, "SELECT erase_orders('u1', 'erased-1', '', 100)")
	r.exec(t, "SELECT erase_details('u1', 'erased-1', true, '', 100)")
	r.exec(t, "SELECT erase_keys('u1', 100)")
}

// found lists the tables with rows that contain a text.
func (r *env) found(t *testing.T, text string) (tables []string) {
	t.Helper()
	for _, table := range rows[string](t, r, "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = quote_ident(current_schema())::regnamespace ORDER BY 1") {
		if rows[int](t, r, "SELECT count(*)::int FROM "+table+" x WHERE x::text LIKE '%' || $1::text || '%'", text)[0] > 0 {
			tables = append(tables, table)
		}
	}
	return tables
}

func erasedMethodTold(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	token := r.paid(t, "A-1", "tok_save").Saved.Token
	r.tell(t, methodEvent(webhooks.KindMethodUpdated, token, "Visa •••• 1111", 1))
	r.erase(t)
	before := rows[int](t, r, "SELECT count(*)::int FROM event_bytes")

	removed := methodEvent(webhooks.KindMethodRemoved, "other-name", "Visa •••• 2222", 3)
	removed.Method.Tokens = append(removed.Method.Tokens, token)
	restored := methodEvent(webhooks.KindMethodUpdated, token, "Visa •••• 2222", 4)
	restored.Method.Restored = true
	updated := methodEvent(webhooks.KindMethodUpdated, token, "Visa •••• 2222", 2)
	updated.Method.Type, updated.Method.Expires = "card 2222", "2222-12"
	for _, e := range []webhooks.Event{updated, removed, restored} {
		require.Equal(t, []fsm.Verdict{payment.Ignored}, r.tell(t, e))
		require.Equal(t, []fsm.Verdict{payment.VerdictDuplicate}, r.tell(t, e))
	}
	require.Empty(t, r.found(t, token))
	require.Empty(t, r.found(t, "•••• 2222"))
	require.Empty(t, r.found(t, "2222-12"))
	require.Equal(t, before, rows[int](t, r, "SELECT count(*)::int FROM event_bytes"), "the bytes have the card, too")

	r.erase(t)
	require.Empty(t, r.found(t, token))

	// A customer who comes back and stores it again is a new customer.
	r.exec(t, `INSERT INTO saved_methods (account, token, user_id, order_id, type, display, expires, version, updated_at)
		VALUES ('sandbox', $1, 'u2', 'A-2', 'card', '', '', 1, now())`, token)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, methodEvent(webhooks.KindMethodUpdated, token, "Visa •••• 3333", 5)))
	require.Equal(t, []string{"Visa •••• 3333"}, rows[string](t, r, "SELECT display FROM saved_methods WHERE token = $1", token))
	require.Empty(t, r.verify(t))
}

// A parked event has the method's names until it is settled.
func erasedMethodHinted(t *testing.T) {
	t.Parallel()
	var p *owners
	r := newEnv(t, setup{silent: true, provider: func(inner gateway.Provider) gateway.Provider {
		p = &owners{Provider: inner}
		return p
	}})
	token := r.paid(t, "A-1", "tok_save").Saved.Token
	e := methodEvent(webhooks.KindMethodRemoved, token, "", 1)
	e.NeedsFetch, e.DeliveryID = true, serial()
	require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, e))
	r.erase(t)
	p.gone.Store(true)
	r.retry(t, true)
	require.Equal(t, []string{"ignored"}, rows[string](t, r, "SELECT verdict FROM provider_events WHERE provider_event_id = $1", e.ID))
	require.Empty(t, r.found(t, token))
	require.Empty(t, rows[string](t, r, "SELECT event_id::text FROM event_bytes"))
}

// No body of a settled event is kept, since it may have the customer's name, address and card. An event that waits keeps its own until
// then.
func erasedPaymentTold(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	paid := r.paid(t, "A-1", "tok_save")
	waiting := event(webhooks.KindRefundSucceeded, paid.ID.String())
	waiting.NeedsFetch = true
	r.tell(t, waiting)
	r.erase(t)
	kinds := []webhooks.Kind{
		webhooks.KindNotice, webhooks.KindProcessing, webhooks.KindActionRequired, webhooks.KindAuthorized, webhooks.KindSucceeded, webhooks.KindFailed,
		webhooks.KindUndone, webhooks.KindSoftFailed, webhooks.KindReversed, webhooks.KindDisputed, webhooks.KindDisputeClosed, webhooks.KindChargeback,
		webhooks.KindChargebackReversed, webhooks.KindRefundPending, webhooks.KindRefundSucceeded, webhooks.KindRefundFailed, webhooks.KindReview,
	}
	for _, kind := range kinds {
		e := event(kind, paid.ID.String())
		e.Money = &webhooks.Money{Minor: price, Currency: "EUR"}
		e.MovementID, e.RefundID = "m_"+string(kind), "re_1"
		e.Dispute = &webhooks.Dispute{ID: "dp_1", Status: webhooks.DisputeOpen}
		e.Review = &webhooks.Review{ID: "rv_1", Status: webhooks.ReviewOpen}
		r.tell(t, e)
	}
	r.retry(t, true)
	settled := rows[int](t, r, "SELECT count(*)::int FROM provider_events WHERE attempt_id = $1 AND next_try_at IS NULL", paid.ID.String())[0]
	require.Greater(t, settled, len(kinds)/2)
	require.Empty(t, rows[string](t, r, "SELECT kind FROM provider_events JOIN event_bytes USING (event_id) WHERE next_try_at IS NULL"))
	require.Empty(t, rows[string](t, r, "SELECT saved_payment_method::text FROM payment_attempts WHERE saved_payment_method IS NOT NULL"))
	require.Empty(t, r.found(t, "u1"))
	require.Empty(t, r.verify(t))
}

func erasedPaymentOfTheOtherMode(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, change: func(o *options) {
		a := o.Accounts["sandbox"]
		a.Live = new(true)
		o.Accounts["sandbox"] = a
	}})
	paid := r.paid(t, "A-1", "tok_success")
	r.erase(t)
	e := event(webhooks.KindChargeback, paid.ID.String())
	e.Mode, e.Money = webhooks.ModeTest, &webhooks.Money{Minor: price, Currency: "EUR"}
	r.tell(t, e)
	require.Equal(t, []string{paid.ID.String()}, rows[string](t, r, "SELECT attempt_id::text FROM provider_events WHERE provider_event_id = $1", e.ID))
	require.Empty(t, rows[string](t, r, "SELECT event_id::text FROM event_bytes"))
}
