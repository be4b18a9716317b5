package lemonsqueezy_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestARefundOfACheckoutsOrder(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, got := serve(t, f, store())
	_, made := paidFor(t, c, f)
	lines(got)
	r := refundOf(made.id, 700, 1999)
	o, err := c.Refund(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, gateway.RefundOutcome{
		Event: fsm.EventSucceeded, ProviderRefundID: r.Refund.String(), Reference: r.Refund.String(), Money: new(euro(700)),
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

// A refund whose answer was lost is not made a second time, by any call, because the order shows more refunds than we
// have recorded.
func TestALostRefundIsMadeOnce(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, got := serve(t, losing(f, "POST /v1/orders/5001/refund"), store())
	_, made := paidFor(t, c, f)
	r := refundOf(made.id, 700, 1999)
	_, err := c.Refund(t.Context(), r)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	require.Equal(t, int64(700), made.refunded)

	found, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: r.Refund, ProviderPaymentID: made.id, Money: euro(700), Taken: euro(1999)})
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, found.Event)
	require.True(t, found.Unnamed, "another refund of as much may have been made")
	require.Equal(t, r.Refund.String(), found.ProviderRefundID)

	lines(got)
	for _, again := range []gateway.RefundCall{r, refundOf(made.id, 700, 1999)} {
		_, err = c.Refund(t.Context(), again)
		require.ErrorIs(t, err, gateway.ErrNotSent)
		require.ErrorIs(t, err, gateway.ErrInconclusive)
	}
	require.Equal(t, []string{"GET /v1/orders/5001", "GET /v1/orders/5001"}, lines(got))
	require.Equal(t, int64(700), made.refunded)
}

func TestLookupsOfRefunds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		refunded int64
		named    bool
		order    string
		err      error
		unnamed  bool
	}{
		"nothing":                {0, false, "5001", gateway.ErrNoSuchPayment, false},
		"nothing of one that is": {0, true, "5001", gateway.ErrInconclusive, false},
		"less":                   {699, false, "5001", gateway.ErrInconclusive, false},
		"as much":                {700, false, "5001", nil, true},
		"all":                    {1999, false, "5001", nil, false},
		"no such order":          {0, false, "9999", gateway.ErrInconclusive, false},
		"no order":               {0, false, "ac470bd4-7c41-474d-b6cd-000000000001", gateway.ErrInconclusive, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			f.orders = []*order{{id: "5001", status: "paid", currency: "EUR", total: 1999, refunded: tt.refunded}, {id: "5002", status: "paid", currency: "EUR", total: 1999}}
			c, _ := serve(t, f, store())
			ref := gateway.RefundRef{
				Refund: payment.RefundID(uuid.Must(uuid.NewV7())), ProviderPaymentID: tt.order, Money: euro(700),
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
				Event: fsm.EventSucceeded, ProviderRefundID: ref.Refund.String(), Reference: ref.Refund.String(), Unnamed: tt.unnamed,
			}, o)
		})
	}
}

// If a link has two orders, the named order is refunded, regardless of the other.
func TestRefund_of_the_named_order(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, _ := serve(t, f, store())
	id, first := paidFor(t, c, f)
	second := f.pay(id)
	o, err := c.Refund(t.Context(), refundOf(second.id, 1999, 1999))
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, o.Event)
	require.Equal(t, []int64{0, 1999}, []int64{first.refunded, second.refunded})
}

// TestOnePayment: the checkout is the container, and each of its orders is a payment.
func TestOnePayment(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, _ := serve(t, f, store())
	o, err := c.Charge(t.Context(), charge())
	require.NoError(t, err)
	for _, made := range []*order{f.pay(o.Container), f.pay(o.Container)} {
		e := told(t, "order_created", made.id, "paid", 1999, 0)
		require.Equal(t, made.id, e.ProviderPaymentID)
		now, err := c.Lookup(t.Context(), made.id)
		require.NoError(t, err)
		require.Equal(t, made.id, now.ProviderPaymentID)
		require.Equal(t, storeID, now.Payee)
	}
	shown, err := c.Lookup(t.Context(), o.Container)
	require.NoError(t, err)
	require.Equal(t, []string{"", o.Container}, []string{shown.ProviderPaymentID, shown.Container}, "no lookup shows its orders")
	_, err = c.Lookup(t.Context(), "subscription-invoices/7")
	require.ErrorIs(t, err, gateway.ErrInconclusive)
}

// An accepted refund that the order does not show yet is processing. A refund in another currency is not sent.
func TestWhatTheOrderDoesNotShow(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.silent = true
	c, got := serve(t, f, store())
	_, made := paidFor(t, c, f)
	o, err := c.Refund(t.Context(), refundOf(made.id, 700, 1999))
	require.NoError(t, err)
	require.Equal(t, fsm.EventProcessing, o.Event)
	made.currency = "USD"
	lines(got)
	_, err = c.Refund(t.Context(), refundOf(made.id, 700, 1299))
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.Equal(t, []string{"GET /v1/orders/5001"}, lines(got))
}
