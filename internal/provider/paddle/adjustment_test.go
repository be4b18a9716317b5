package paddle_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestARefundOfAllIsFull(t *testing.T) {
	t.Parallel()
	f := payments()
	c, got := serve(t, f)
	id := paidFor(t, c, f, 1999)
	lines(got)
	r := refundOf(id, 1999)
	o, err := c.Refund(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, gateway.RefundOutcome{
		Event: fsm.EventSucceeded, ProviderRefundID: o.ProviderRefundID, ProviderPaymentID: id, Reference: r.Refund.String(), Money: new(euro(1999)),
	}, o)
	for range 2 {
		<-got
	}
	require.JSONEq(t, `{"action":"refund","type":"full","transaction_id":"`+id+`","reason":"He shouted. (`+r.Refund.String()+`)"}`, (<-got).body)
}

// A partial refund is taken from one item after the other. Each item takes at most its amount that is not refunded yet.
func TestAPartIsSharedAmongItems(t *testing.T) {
	t.Parallel()
	f := payments()
	c, got := serve(t, f)
	id := paidFor(t, c, f, 1000, 500, 499)
	items := func(minor int64) string {
		lines(got)
		o, err := c.Refund(t.Context(), refundOf(id, minor))
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, o.Event)
		require.Equal(t, euro(minor), *o.Money)
		var last seen
		for len(got) > 0 {
			last = <-got
		}
		return string(members(t, last.body)["items"])
	}
	item := func(i int) string { return f.find(id).item(i) }
	require.JSONEq(t, `[{"item_id":"`+item(0)+`","type":"partial","amount":"300"}]`, items(300))
	f.adjustments[0].status = "rejected"
	require.JSONEq(t, `[{"item_id":"`+item(0)+`","type":"partial","amount":"1000"},{"item_id":"`+item(1)+`","type":"partial","amount":"200"}]`, items(1200))
	require.JSONEq(t, `[{"item_id":"`+item(1)+`","type":"partial","amount":"300"},{"item_id":"`+item(2)+`","type":"partial","amount":"499"}]`, items(799))
	o, err := c.Refund(t.Context(), refundOf(id, 1))
	require.NoError(t, err)
	require.Equal(t, gateway.RefusedRefund("adjustment_total_amount_above_remaining_allowed"), o)
}

// A full adjustment would refund only the rest. A refund of more than the rest must be refused and not reduced.
func TestARefundOfMoreThanIsLeftIsRefused(t *testing.T) {
	t.Parallel()
	f := payments()
	c, _ := serve(t, f)
	id := paidFor(t, c, f, 1999)
	_, err := c.Refund(t.Context(), refundOf(id, 300))
	require.NoError(t, err)
	o, err := c.Refund(t.Context(), refundOf(id, 1999))
	require.NoError(t, err)
	require.Equal(t, gateway.RefusedRefund("adjustment_total_amount_above_remaining_allowed"), o)
	require.Len(t, f.adjustments, 1)
}

// A refund without items is a full refund. So no part of a transaction without visible items is refunded.
func TestAPartIsNeverRefundedAsAWhole(t *testing.T) {
	t.Parallel()
	c, got := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/adjustments") {
			_, _ = io.WriteString(w, `{"data":[],"meta":{"pagination":{"has_more":false}}}`)
			return
		}
		_, _ = io.WriteString(w, `{"data":{"id":"txn_1","status":"completed","currency_code":"EUR","details":{"totals":{"grand_total":"1999"},"line_items":[]}}}`)
	}))
	_, err := c.Refund(t.Context(), refundOf("txn_1", 700))
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.Equal(t, []string{"GET /transactions/txn_1", "GET /adjustments"}, lines(got))
}

// A refund whose answer was lost is searched for among the adjustments before it is sent again, so it is made once.
func TestALostRefundIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	f := payments()
	f.pending = true
	c, got := serve(t, f)
	id := paidFor(t, c, f, 1999)
	lost, _ := serve(t, losing(f, "POST /adjustments"))
	r := refundOf(id, 700)
	_, err := lost.Refund(t.Context(), r)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	lines(got)
	again, err := c.Refund(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, fsm.EventProcessing, again.Event)
	require.Equal(t, []string{"GET /transactions/" + id, "GET /adjustments"}, lines(got))
	require.Len(t, f.adjustments, 1)
	found, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: r.Refund, ProviderPaymentID: id})
	require.NoError(t, err)
	require.Equal(t, again, found)
	require.False(t, c.Capabilities().RefundsConsistent, "how soon a list shows it is not documented")
}

// A transaction that is not completed can't be refunded, so nothing is sent, and the refund can be tried again.
func TestNothingIsRefundedBeforeItIsCompleted(t *testing.T) {
	t.Parallel()
	f := payments()
	c, got := serve(t, f)
	id := paidFor(t, c, f, 1999)
	f.find(id).status = "paid"
	lines(got)
	_, err := c.Refund(t.Context(), refundOf(id, 1999))
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.ErrorIs(t, err, gateway.ErrInconclusive)
	require.Equal(t, []string{"GET /transactions/" + id, "GET /adjustments"}, lines(got))
}

// If the adjustments can't be read, nothing is refunded.
func TestARefundIsLookedForFirst(t *testing.T) {
	t.Parallel()
	f := payments()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/adjustments" {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		f.ServeHTTP(w, r)
	})
	c, got := serve(t, h)
	id := paidFor(t, c, f, 1999)
	lines(got)
	_, err := c.Refund(t.Context(), refundOf(id, 1999))
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.Equal(t, []string{"GET /transactions/" + id, "GET /adjustments"}, lines(got))
	_, err = c.Lookup(t.Context(), id)
	require.Error(t, err, "a payment without its refunds is not shown")
}

func TestHowARefundStands(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]gateway.RefundOutcome{
		"pending_approval": {Event: fsm.EventProcessing},
		"marinating":       {Event: fsm.EventProcessing},
		"approved":         {Event: fsm.EventSucceeded},
		"rejected":         {Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "rejected")},
		"reversed":         {Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "reversed")},
	} {
		f := payments()
		f.adjustments = []*adjustment{{id: "adj_1", action: "refund", status: status, transaction: "txn_1", currency: "EUR", total: 700, reason: "by hand"}}
		c, _ := serve(t, f)
		want.ProviderRefundID, want.ProviderPaymentID, want.Money = "adj_1", "txn_1", new(euro(700))
		o, err := c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "adj_1"})
		require.NoError(t, err)
		require.Equal(t, want, o, status)
	}
}

// Chargebacks and their reversals are separate adjustments, so a reversed chargeback counts as well. Warnings and
// credits move no money.
func TestChargebacksOfALookup(t *testing.T) {
	t.Parallel()
	f := payments()
	c, _ := serve(t, f)
	id := paidFor(t, c, f, 1999)
	for i, kind := range [][2]string{
		{"chargeback", "reversed"}, {"chargeback_reverse", "approved"}, {"chargeback", "approved"}, {"chargeback", "pending_approval"}, {"chargeback_warning", "approved"}, {"credit", "approved"},
	} {
		f.adjustments = append(f.adjustments, &adjustment{id: string(rune('a' + i)), action: kind[0], status: kind[1], transaction: id, currency: "EUR", total: int64(100 + i)})
	}
	o, err := c.Lookup(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, []payment.MovementReport{
		{Kind: payment.MovementChargeback, ID: "a", Money: euro(100)},
		{Kind: payment.MovementChargebackReversal, ID: "b", Money: euro(101)},
		{Kind: payment.MovementChargeback, ID: "c", Money: euro(102)},
	}, o.Movements)
	require.Empty(t, o.Refunds)
	f.adjustments = []*adjustment{{id: "a", action: "refund", status: "approved", transaction: "txn_other", currency: "EUR", total: 1}}
	other, err := c.Lookup(t.Context(), id)
	require.NoError(t, err)
	require.Empty(t, other.Refunds)
}
