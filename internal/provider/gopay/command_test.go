package gopay_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/gopay"
)

// paidBy returns the id of a payment that its customer has paid, with this capture mode.
func paidBy(t *testing.T, c *gopay.Client, g *gate, capture payment.CaptureMode) string {
	t.Helper()
	ch := charge("redirect")
	ch.Capture = capture
	id := charged(t, c, ch).ProviderPaymentID
	g.pay(id)
	return id
}

// TestWhatIsAcceptedMayShowLater: the response to a command is no result.
func TestWhatIsAcceptedMayShowLater(t *testing.T) {
	t.Parallel()
	c, g := opened(t)
	id := paidBy(t, c, g, payment.CaptureManual)
	g.lags = true
	want := gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: id}
	o, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: id, Money: czk(1999), Whole: true, Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, want, o)
	o, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: id, Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, want, o)
}

// TestAPartHasAnItem: an empty form captures the whole hold, so only a partial capture has an item.
func TestAPartHasAnItem(t *testing.T) {
	t.Parallel()
	c, g := opened(t)
	id := paidBy(t, c, g, payment.CaptureManual)
	_, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: id, Money: czk(500), Permit: permit()})
	require.NoError(t, err)
	require.JSONEq(t, `{"amount": 500, "items": [{"type": "ITEM", "name": "Captured part", "amount": 500, "count": 1}]}`, g.bodies[1])
	_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: paidBy(t, c, g, payment.CaptureManual), Money: czk(1999), Whole: true, Permit: permit()})
	require.NoError(t, err)
	require.Empty(t, g.bodies[3])
}

// TestFailedResults: if GoPay accepts the request and the command fails, the command is refused.
func TestFailedResults(t *testing.T) {
	t.Parallel()
	failed := says(t, http.StatusOK, `{"id":1,"result":"FAILED","state":"AUTHORIZED","amount":1999,"currency":"CZK"}`)
	o, err := failed.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "1", Money: czk(1999), Whole: true, Permit: permit()})
	require.NoError(t, err)
	require.True(t, o.Refused)
	require.Equal(t, fsm.EventAuthorized, o.Event)
	_, err = says(t, http.StatusOK, `{"id":1,"result":"LATER"}`).Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "1", Permit: permit()})
	require.Error(t, err)
}

// TestARefundIsNamedByItsList: the response to a refund does not contain the refund's id.
func TestARefundIsNamedByItsList(t *testing.T) {
	t.Parallel()
	c, g := opened(t)
	id := paidBy(t, c, g, payment.CaptureAutomatic)
	back := gateway.RefundCall{ProviderPaymentID: id, Money: czk(500), Permit: permit()}
	first, err := c.Refund(t.Context(), back)
	require.NoError(t, err)
	second, err := c.Refund(t.Context(), back)
	require.NoError(t, err)
	require.NotEmpty(t, first.ProviderRefundID)
	require.NotEmpty(t, second.ProviderRefundID)
	require.NotEqual(t, first.ProviderRefundID, second.ProviderRefundID)

	g.silent = true
	third, err := c.Refund(t.Context(), back)
	require.NoError(t, err)
	money := czk(500)
	require.Equal(t, gateway.RefundOutcome{Event: fsm.EventProcessing, Money: &money}, third)
	g.silent, g.unlisted = false, true
	back.Money = czk(1)
	fourth, err := c.Refund(t.Context(), back)
	require.NoError(t, err)
	require.Empty(t, fourth.ProviderRefundID, "a payment without refunds may have no list")
	require.Len(t, g.payments[id].refunds, 4)
}

// TestOtherRefundsOfTheAmount: if a refund of the same amount is made in the dashboard at the same time, either refund
// may be ours.
func TestOtherRefundsOfTheAmount(t *testing.T) {
	t.Parallel()
	c, g := opened(t)
	id := paidBy(t, c, g, payment.CaptureAutomatic)
	other := 7
	over := overtaking(t, g, func() {
		other++
		g.payments[id].refunds = append(g.payments[id].refunds, object{"id": other, "state": "SUCCESS", "amount": int64(500), "currency": "CZK"})
	})
	named, err := over.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: id, Money: czk(300), Permit: permit()})
	require.NoError(t, err)
	require.NotEmpty(t, named.ProviderRefundID, "the one in between is of another amount")
	o, err := over.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: id, Money: czk(500), Permit: permit()})
	require.NoError(t, err)
	require.Empty(t, o.ProviderRefundID)
	require.Equal(t, fsm.EventProcessing, o.Event)
}

// TestARefundLooksFirst: if the refunds can't be listed, nothing is refunded.
func TestARefundLooksFirst(t *testing.T) {
	t.Parallel()
	_, err := says(t, http.StatusBadGateway, "").Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "1", Money: czk(1), Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrNotSent)
	_, err = says(t, http.StatusConflict, `{"errors":[{"error_code":304,"error_name":"PAYMENT_NOT_FOUND"}]}`).Lookup(t.Context(), "1")
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	_, err = says(t, http.StatusConflict, `{"errors":[{"error_code":303}]}`).Lookup(t.Context(), "1")
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	_, err = says(t, http.StatusNotFound, `{"errors":[{"error_code":304}]}`).LookupRefund(t.Context(), gateway.RefundRef{ProviderPaymentID: "1", ProviderRefundID: "2"})
	require.ErrorIs(t, err, gateway.ErrInconclusive, "a payment that is not found shows nothing of its refunds")
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}
