package recheck_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestAskForRefunds(t *testing.T) {
	t.Parallel()
	t.Run("that_end_later", shownRefundsThatEndLater)
	t.Run("of_everything", shownRefundOfEverything)
	t.Run("in_another_currency", shownRefundInAnotherCurrency)
	t.Run("of_ours_and_of_others", shownRefundOfOurs)
	t.Run("paid_after_they_failed", shownRefundAfterItFailed)
}

// show replaces the refunds that a payment's lookup shows.
func (d *dashboard) show(id string, refunds ...gateway.RefundOutcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.payments[id].Refunds = refunds
}

func made(id string, says fsm.Event, money payment.Money) gateway.RefundOutcome {
	return gateway.RefundOutcome{ProviderRefundID: id, Event: says, Money: &money}
}

// asks looks up a payment twice: the second lookup changes nothing.
func (r *env) asks(t *testing.T, id payment.AttemptID) payment.View {
	t.Helper()
	first, err := r.Ask(t.Context(), id, byTest)
	require.NoError(t, err)
	second, err := r.Ask(t.Context(), id, byTest)
	require.NoError(t, err)
	require.Equal(t, first.Version, second.Version)
	return second
}

func (r *env) recorded(t *testing.T) []string {
	t.Helper()
	return rows[string](t, r, "SELECT amount || ' ' || status || ' ' || origin FROM refunds ORDER BY amount")
}

// A pending refund takes nothing until it is made, and a failed refund takes nothing at all.
func shownRefundsThatEndLater(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1", fsm.EventSucceeded)
	r.show(a.ProviderPaymentID, made("re_1", fsm.EventProcessing, euro(700)), made("re_2", fsm.EventProcessing, euro(500)))
	require.Zero(t, r.asks(t, a.ID).Refunded)
	require.Equal(t, []string{"500 pending provider", "700 pending provider"}, r.recorded(t))
	r.show(a.ProviderPaymentID, made("re_1", fsm.EventSucceeded, euro(700)), made("re_2", fsm.EventFailed, euro(500)))
	require.EqualValues(t, 700, r.asks(t, a.ID).Refunded)
	require.Equal(t, []string{"500 failed provider", "700 succeeded provider"}, r.recorded(t))
	r.requireVerified(t)
}

// A report that everything was refunded is a total: it contains the named refunds, and later reports of them.
func shownRefundOfEverything(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1", fsm.EventSucceeded)
	require.NoError(t, r.refunds(t.Context(), a.ID, "refund-1", 700))
	r.show(a.ProviderPaymentID, gateway.RefundOutcome{Event: fsm.EventSucceeded, Whole: true})
	require.EqualValues(t, price, r.asks(t, a.ID).Refunded)
	require.NoError(t, r.tell(t.Context(), a, "re_9", 1299))
	require.EqualValues(t, price, r.asks(t, a.ID).Refunded)
	require.Equal(t, []string{"700 succeeded request", "1299 succeeded provider"}, r.recorded(t))
	r.requireVerified(t)
}

// Money of another currency is a person's to compare, once.
func shownRefundInAnotherCurrency(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1", fsm.EventSucceeded)
	r.show(a.ProviderPaymentID, made("re_1", fsm.EventSucceeded, payment.Money{Minor: 700, Currency: "USD"}))
	require.Zero(t, r.asks(t, a.ID).Refunded)
	require.Equal(t, []string{"currency_mismatch"}, rows[string](t, r, "SELECT kind FROM discrepancies"))
	require.Empty(t, r.recorded(t))
	r.resolved(t, a.ID)
	r.requireVerified(t)
}

// A refund that was requested here is found by our reference, beside a dashboard refund.
func shownRefundOfOurs(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1", fsm.EventSucceeded)
	require.NoError(t, r.refunds(t.Context(), a.ID, "refund-1", 700))
	ours := rows[string](t, r, "SELECT refund_id::text FROM refunds")[0]
	named := made("re_"+ours, fsm.EventSucceeded, euro(700))
	named.Reference = ours
	other := made("re_1", fsm.EventSucceeded, euro(500))
	other.Reference = "made by hand"
	r.show(a.ProviderPaymentID, other, named)
	require.EqualValues(t, 1200, r.asks(t, a.ID).Refunded)
	require.Equal(t, []string{"500 succeeded provider", "700 succeeded request"}, r.recorded(t))
	r.requireVerified(t)
}

// A failed refund that is paid later counts, and opens one discrepancy.
func shownRefundAfterItFailed(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1", fsm.EventSucceeded)
	r.show(a.ProviderPaymentID, made("re_1", fsm.EventFailed, euro(700)))
	require.Zero(t, r.asks(t, a.ID).Refunded)
	r.show(a.ProviderPaymentID, made("re_1", fsm.EventSucceeded, euro(700)))
	require.EqualValues(t, 700, r.asks(t, a.ID).Refunded)
	require.Equal(t, []string{"needs_review"}, rows[string](t, r, "SELECT kind FROM discrepancies"))
	r.resolved(t, a.ID)
	r.requireVerified(t)
}

// resolved resolves the open discrepancies, and asserts that a further lookup with the same result opens none of them
// again.
func (r *env) resolved(t *testing.T, id payment.AttemptID) {
	t.Helper()
	_, err := r.db.Exec(t.Context(), "UPDATE discrepancies SET resolved_at = now(), resolved_by = 'test', resolution = 'accepted'")
	require.NoError(t, err)
	before := len(rows[string](t, r, "SELECT kind FROM discrepancies"))
	r.asks(t, id)
	require.Len(t, rows[string](t, r, "SELECT kind FROM discrepancies"), before)
	require.Empty(t, rows[string](t, r, "SELECT kind FROM discrepancies WHERE resolved_at IS NULL"))
}
