package standard_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func capture(id string, minor int64) gateway.Capture {
	return gateway.Capture{ProviderPaymentID: id, Money: euro(minor), IdempotencyKey: id + "-capture-0", Permit: permit()}
}

func cancel(id string) gateway.Cancel {
	return gateway.Cancel{ProviderPaymentID: id, IdempotencyKey: id + "-cancel-0", Permit: permit()}
}

func TestCapture(t *testing.T) {
	t.Parallel()
	r := start(t)
	o := r.charged(t, manual("tok_success"))
	require.Equal(t, fsm.EventAuthorized, o.Event)
	require.Equal(t, euro(1999), *o.Money)
	require.Empty(t, r.ledger(t))
	for range 2 {
		got, err := r.Capture(t.Context(), capture(o.ProviderPaymentID, 500))
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, got.Event)
		require.Equal(t, euro(500), *got.Money)
		require.False(t, got.Refused)
	}
	require.Len(t, r.ledger(t), 1)
}

func TestACaptureThatIsRefusedTellsHowThePaymentStands(t *testing.T) {
	t.Parallel()
	r := start(t)
	for token, want := range map[string]fsm.Event{"tok_decline": fsm.EventFailed, "tok_never": fsm.EventProcessing} {
		o := r.charged(t, manual(token))
		got, err := r.Capture(t.Context(), capture(o.ProviderPaymentID, 1999))
		require.NoError(t, err)
		require.True(t, got.Refused)
		require.Equal(t, want, got.Event)
	}
	o := r.charged(t, manual("tok_success"))
	got, err := r.Capture(t.Context(), capture(o.ProviderPaymentID, 2000))
	require.NoError(t, err)
	require.True(t, got.Refused)
	require.Equal(t, fsm.EventAuthorized, got.Event)
	_, err = r.Capture(t.Context(), capture("ch_nobody", 1))
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
}

func TestCancel(t *testing.T) {
	t.Parallel()
	r := start(t)
	o := r.charged(t, charge("tok_never"))
	for range 2 {
		got, err := r.Cancel(t.Context(), cancel(o.ProviderPaymentID))
		require.NoError(t, err)
		require.Equal(t, fsm.EventFailed, got.Event)
		require.Equal(t, "canceled", got.Failure.Code)
		require.False(t, got.Refused)
	}
	paid := r.charged(t, charge("tok_success"))
	got, err := r.Cancel(t.Context(), cancel(paid.ProviderPaymentID))
	require.NoError(t, err)
	require.True(t, got.Refused)
	require.Equal(t, fsm.EventSucceeded, got.Event)
	_, err = r.Cancel(t.Context(), cancel("ch_nobody"))
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
}

func TestRefund(t *testing.T) {
	t.Parallel()
	r := start(t)
	paid := r.charged(t, charge("tok_success"))
	back := gateway.RefundCall{
		Refund: payment.RefundID(uuid.New()), ProviderPaymentID: paid.ProviderPaymentID, Money: euro(1200), IdempotencyKey: "r1-refund", Permit: permit(),
	}
	first, err := r.Refund(t.Context(), back)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, first.Event)
	require.Equal(t, euro(1200), *first.Money)
	again, err := r.Refund(t.Context(), back)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Len(t, r.ledger(t), 2)

	for _, ref := range []gateway.RefundRef{{Refund: back.Refund}, {ProviderRefundID: first.ProviderRefundID}} {
		found, err := r.LookupRefund(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, first, found)
	}
	for _, ref := range []gateway.RefundRef{{Refund: payment.RefundID(uuid.New())}, {ProviderRefundID: "re_nobody"}} {
		_, err := r.LookupRefund(t.Context(), ref)
		require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	}

	back.Refund, back.IdempotencyKey = payment.RefundID(uuid.New()), "r2-refund"
	refused, err := r.Refund(t.Context(), back)
	require.NoError(t, err)
	require.Equal(t, fsm.EventFailed, refused.Event)
	require.Equal(t, "refund_exceeds_charge", refused.Failure.ProviderCode)
	require.Len(t, r.ledger(t), 2)
}

func TestEveryCommandAsksItsLicence(t *testing.T) {
	t.Parallel()
	r := start(t)
	o := r.charged(t, manual("tok_success"))
	paid := r.charged(t, charge("tok_success"))
	before := r.ledger(t)
	for name, do := range map[string]func() error{
		"charge": func() error {
			c := charge("tok_success")
			c.Permit = ended()
			_, err := r.Charge(t.Context(), c)
			return err
		},
		"capture": func() error {
			c := capture(o.ProviderPaymentID, 1999)
			c.Permit = ended()
			_, err := r.Capture(t.Context(), c)
			return err
		},
		"cancel": func() error {
			c := cancel(o.ProviderPaymentID)
			c.Permit = gateway.Permit{}
			_, err := r.Cancel(t.Context(), c)
			return err
		},
		"refund": func() error {
			_, err := r.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: paid.ProviderPaymentID, Money: euro(1), IdempotencyKey: "x-refund", Permit: ended()})
			return err
		},
	} {
		err := do()
		require.ErrorIs(t, err, gateway.ErrNotSent, name)
		require.ErrorIs(t, err, gateway.ErrPermitEnded, name)
	}
	require.Equal(t, before, r.ledger(t))
	now, err := r.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, fsm.EventAuthorized, now.Event)
}
