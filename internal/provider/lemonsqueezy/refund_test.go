package lemonsqueezy_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// The attempt has the id of its checkout: the order, which a webhook has named, is what is refunded.
func TestARefundOfACheckoutsOrder(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, got := serve(t, f, store())
	id, made := paidFor(t, c, f)
	lines(got)
	r := refundOf(id, 700, 1999, made.id)
	o, err := c.Refund(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, gateway.RefundOutcome{
		News: fsm.NewsSucceeded, ProviderRefundID: r.Refund.String(), Reference: r.Refund.String(), Money: new(euro(700)),
	}, o)
	require.Equal(t, []string{"GET /v1/orders/5001", "POST /v1/orders/5001/refund"}, lines(got))
	require.Equal(t, int64(700), made.refunded)
}

func TestWithoutAnOrderNothingIsRefunded(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, got := serve(t, f, store())
	id, _ := paidFor(t, c, f)
	lines(got)
	_, err := c.Refund(t.Context(), refundOf(id, 700, 1999))
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.Empty(t, lines(got))
}

// A refund whose answer was lost is not made a second time, by whichever call: the order shows more than is recorded.
func TestALostRefundIsMadeOnce(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, got := serve(t, losing(f, "POST /v1/orders/5001/refund"), store())
	id, made := paidFor(t, c, f)
	r := refundOf(id, 700, 1999, made.id)
	_, err := c.Refund(t.Context(), r)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	require.Equal(t, int64(700), made.refunded)

	found, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: r.Refund, ProviderPaymentID: id, Money: euro(700), Taken: euro(1999), Transactions: []string{made.id}})
	require.NoError(t, err)
	require.Equal(t, fsm.NewsSucceeded, found.News)
	require.True(t, found.Unnamed, "another refund of as much may have been made")
	require.Equal(t, r.Refund.String(), found.ProviderRefundID)

	lines(got)
	for _, again := range []gateway.RefundCall{r, refundOf(id, 700, 1999, made.id)} {
		_, err = c.Refund(t.Context(), again)
		require.ErrorIs(t, err, gateway.ErrNotSent)
		require.ErrorIs(t, err, gateway.ErrNotTold)
	}
	require.Equal(t, []string{"GET /v1/orders/5001", "GET /v1/orders/5001"}, lines(got))
	require.Equal(t, int64(700), made.refunded)
}

func TestLookupsOfRefunds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		refunded int64
		named    bool
		orders   []string
		err      error
		unnamed  bool
	}{
		"nothing":                    {0, false, []string{"5001"}, gateway.ErrNoSuchPayment, false},
		"nothing of one that is":     {0, true, []string{"5001"}, gateway.ErrNotTold, false},
		"less":                       {699, false, []string{"5001"}, gateway.ErrNotTold, false},
		"as much":                    {700, false, []string{"5001"}, nil, true},
		"all":                        {1999, false, []string{"5001"}, nil, false},
		"no such order":              {0, false, []string{"9999"}, gateway.ErrNotTold, false},
		"no order":                   {0, false, nil, gateway.ErrNotTold, false},
		"one of two, not to be told": {700, false, []string{"5001", "5002"}, gateway.ErrNotTold, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			f.orders = []*order{{id: "5001", status: "paid", currency: "EUR", total: 1999, refunded: tt.refunded}, {id: "5002", status: "paid", currency: "EUR", total: 1999}}
			c, _ := serve(t, f, store())
			ref := gateway.RefundRef{
				Refund: payment.RefundID(uuid.Must(uuid.NewV7())), ProviderPaymentID: "ac470bd4-7c41-474d-b6cd-000000000001", Money: euro(700), Transactions: tt.orders,
			}
			if tt.named {
				ref.ProviderRefundID = ref.Refund.String()
			}
			o, err := c.LookupRefund(t.Context(), ref)
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, gateway.RefundOutcome{
				News: fsm.NewsSucceeded, ProviderRefundID: ref.Refund.String(), Reference: ref.Refund.String(), Unnamed: tt.unnamed,
			}, o)
		})
	}
}

// Of two orders by one link that one is refunded which has as much left.
func TestARefundOfTheOrderThatHasIt(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, _ := serve(t, f, store())
	id, first := paidFor(t, c, f)
	second := f.pay(id)
	first.refunded = 1999
	o, err := c.Refund(t.Context(), refundOf(id, 1999, 1999, first.id, second.id))
	require.NoError(t, err)
	require.Equal(t, fsm.NewsSucceeded, o.News)
	require.Equal(t, int64(1999), second.refunded)
}

// A refund that was accepted and does not show yet is processing, and one in another currency is not sent.
func TestWhatTheOrderDoesNotShow(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.silent = true
	c, got := serve(t, f, store())
	id, made := paidFor(t, c, f)
	o, err := c.Refund(t.Context(), refundOf(id, 700, 1999, made.id))
	require.NoError(t, err)
	require.Equal(t, fsm.NewsProcessing, o.News)
	made.currency = "USD"
	lines(got)
	_, err = c.Refund(t.Context(), refundOf(id, 700, 1299, made.id))
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.Equal(t, []string{"GET /v1/orders/5001"}, lines(got))
}
