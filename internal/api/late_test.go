package api_test

import (
	"html"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Whoever presses again after a payment that failed and arrived after all reads the same
// in the answer and on the page of its code.
func TestLateSuccessIsToldTheSame(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	late := pending()
	late.State, late.Captured = fsm.Failed, late.Money.Minor
	o := payment.Order{ID: "A-1", Money: late.Money, Attempts: []payment.Attempt{late}}
	b.payments.err = o.TakesPay()
	got := b.command("/v1/orders/A-1/pay", goodPay)
	p := got.is(t, 409, "order-already-paid")
	require.Contains(t, p.Detail, "Your payment arrived after all; the shop is looking at it.")
	require.NotContains(t, p.Detail, "failed")
	require.Equal(t, attemptID.String(), p.Attempt["payment_attempt_id"])
	require.NotContains(t, p.Attempt, "client_request_id")
	page := html.UnescapeString(string(b.send(http.MethodGet, "/problems/order-already-paid", "").text))
	require.Contains(t, page, "Your payment arrived after all; the shop is looking at it.")

	b.payments.err = payment.ErrOrderPaid
	p = b.command("/v1/orders/A-1/pay", goodPay).is(t, 409, "order-already-paid")
	require.NotContains(t, p.Detail, "arrived after all", "an order that is paid is paid")
	require.Empty(t, p.Attempt)
}
