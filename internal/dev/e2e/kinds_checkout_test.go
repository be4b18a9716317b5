package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// TestACheckoutIsPaidByItsOrder: a pay at Lemon Squeezy makes a checkout. Only the webhooks of its orders show that it was paid.
// The order is refunded, and the money of a second order by the same link is to be refunded.
func TestACheckoutIsPaidByItsOrder(t *testing.T) {
	t.Parallel()
	r := newKindsRig(t)
	const checkout = "ac470bd4-7c41-474d-b6cd-0f296f5be02a"
	r.api.answers("POST /v1/checkouts", `201 {"data":{"type":"checkouts","id":"`+checkout+`","attributes":{"preview":{"currency":"EUR"},"url":"https://shop.lemonsqueezy.example/c/1"}}}`)
	shop, order := r.service.customer().backend(), unique("o")
	shop.send(t.Context(), http.MethodPost, "/v1/orders", fmt.Sprintf(`{"order_id":%q,"amount":1999,"currency":"EUR"}`, order),
		"Idempotency-Key: "+order).is(t, http.StatusCreated)
	a := shop.send(t.Context(), http.MethodPost, "/v1/orders/"+order+"/pay",
		`{"account":"lemonsqueezy","payment_method":{"token":"redirect"}}`, "Idempotency-Key: pay-"+order).attempt(t, http.StatusCreated)
	require.Equal(t, "https://shop.lemonsqueezy.example/c/1", a.NextAction.URL)

	tell := func(n, name, status string, refunded int) {
		body := strings.NewReplacer("$n", n, "$metadata", fmt.Sprintf(`{"payment_attempt_id":%q}`, a.ID)).Replace(lemonsqueezyOrder(name, status, refunded, 1))
		d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body)}
		require.NoError(t, r.accounts["lemonsqueezy"].sign(&d))
		r.service.redeliver(t.Context(), "lemonsqueezy", d).is(t, http.StatusOK)
	}
	seen := func() string {
		var status string
		var captured, back int64
		require.NoError(t, r.db.QueryRow(t.Context(), `SELECT status, amount_captured, amount_refunded FROM payment_attempts WHERE attempt_id = $1`, a.ID).
			Scan(&status, &captured, &back))
		return fmt.Sprintf("%s %d %d", status, captured, back)
	}
	tell("5001", "order_created", "paid", 0)
	require.Equal(t, "succeeded 1999 0", seen())

	shown := `{"data":{"type":"orders","id":"5001","attributes":{"status":"paid","currency":"EUR","total":1999,"refunded_amount":%d}}}`
	r.api.answers("GET /v1/orders/5001", fmt.Sprintf(shown, 0))
	r.api.answers("POST /v1/orders/5001/refund", fmt.Sprintf(shown, 700))
	shop.send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+a.ID+"/refunds", `{"amount":700}`, "Idempotency-Key: back-"+order).is(t, http.StatusCreated)
	require.Equal(t, "succeeded 1999 700", seen())
	tell("5001", "order_refunded", "partial_refund", 700)
	require.Equal(t, "succeeded 1999 700", seen(), "it is the same refund")

	tell("5002", "order_created", "paid", 0)
	require.Equal(t, "succeeded 3998 700", seen())
	require.Contains(t, column[string](t, r.rig, `SELECT about FROM discrepancies WHERE attempt_id = $1`, a.ID), "second_payment")
	require.Empty(t, r.api.unexpected())
}
