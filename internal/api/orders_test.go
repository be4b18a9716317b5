package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

const goodOrder = `{"order_id":"A-1","amount":1999,"currency":"EUR","description":"Zwei Bücher","metadata":{"cart":"77"}}`

func TestCreateOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.order, b.payments.result = order(), idempotency.Created
	got := b.command("/v1/orders", goodOrder, "Authorization: Bearer service-1", "On-Behalf-Of: u1")
	require.Equal(t, http.StatusCreated, got.StatusCode)
	require.Equal(t, "created", got.Header.Get("Idempotency-Result"))
	require.Empty(t, got.Header.Get("Idempotency-Replayed"))
	require.Equal(t, "key-00000001", got.Header.Get("Idempotency-Key"))
	require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
	want := `{"order_id":"A-1","user_id":"u1","amount":1999,"currency":"EUR","version":1,"status":"open","amount_held":0,"amount_captured":0,"created_by":"service","description":"",` +
		`"metadata":{},"created_at":"2026-03-01T09:30:00.120000Z","updated_at":"2026-03-01T09:30:00.120000Z","attempts":[]}` + "\n"
	require.Equal(t, want, string(got.text), "to the byte")

	require.Equal(t, commands.CreateOrder{
		OrderID: "A-1", Money: payment.Money{Minor: 1999, Currency: "EUR"},
		Description: "Zwei Bücher", Metadata: map[string]string{"cart": "77"},
	}, b.payments.created)
	require.Equal(t, payment.UserID("u1"), b.payments.actor.User())
	require.Equal(t, "u1", b.payments.request.User)
	require.Equal(t, "POST /v1/orders", b.payments.request.Endpoint)
	require.Equal(t, idempotency.Key("key-00000001"), b.payments.request.Key)
}

func TestAmendOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.order, b.payments.result = order(), idempotency.Created
	send := func(body string) answer {
		return b.send(http.MethodPatch, "/v1/orders/A-1", body, "Idempotency-Key: key-00000001", "Authorization: Bearer service-1", "On-Behalf-Of: u1")
	}
	got := send(`{"amount":2500,"currency":"EUR","description":"","metadata":{"cart":"78"},"lines":[],"customer":{"name":"Ann"},"expected_version":3}`)
	require.Equal(t, http.StatusOK, got.StatusCode, string(got.text))
	require.Equal(t, "created", got.Header.Get("Idempotency-Result"))
	cmd := b.payments.amends
	require.Equal(t, "PATCH /v1/orders/A-1", b.payments.request.Endpoint)
	require.Equal(t, string(got.text), string(cmd.Body(order())), "the body that is stored is the body that is sent")
	cmd.Body = nil
	require.Equal(t, commands.AmendOrder{
		OrderID: "A-1", Amount: new(int64(2500)), Currency: new(payment.Currency("EUR")), Description: new(""), Metadata: map[string]string{"cart": "78"},
		Lines: &[]gateway.Line{}, Customer: &gateway.Customer{Name: "Ann"}, ExpectedVersion: new(3),
	}, cmd)

	b.payments.body, b.payments.result = cmdBody(2500), idempotency.Reused
	again := send(`{"amount":2500}`)
	require.Equal(t, string(b.payments.body), string(again.text), "as it was then")
	require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
	require.Equal(t, commands.AmendOrder{OrderID: "A-1", Amount: new(int64(2500))}.Amount, b.payments.amends.Amount)
	require.Nil(t, b.payments.amends.Lines)
	require.Nil(t, b.payments.amends.Customer)

	for body, field := range map[string]string{
		`{"amount":0}`: "amount", `{"amount":null}`: "amount", `{"currency":"eur"}`: "currency", `{"expected_version":0}`: "expected_version", `{"lines":null}`: "lines",
	} {
		p := send(body).is(t, 422, "validation-failed")
		require.Equal(t, field, p.Errors[0].Field, body)
	}
	send(`{"order_id":"A-2"}`).is(t, 400, "malformed-request")
	b.payments.err = payment.ErrOrderChanged
	require.False(t, send(`{"amount":2500,"expected_version":1}`).is(t, 412, "order-changed").Retryable)
}

// cmdBody is a stored response.
func cmdBody(amount int64) []byte {
	o := order()
	o.Money.Minor = amount
	return render.JSON(render.New(func() time.Time { return now }, 0).Order(o))
}

func TestReplayOfCreateOrderIsByteIdentical(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.order, b.payments.result = order(), idempotency.Created
	b.payments.order.Metadata = map[string]string{"c": "1", "a": "<&>", "b": "ü"}
	first := b.command("/v1/orders", goodOrder)
	hash := b.payments.request.Hash
	b.payments.result = idempotency.Reused
	again := b.command("/v1/orders", `{ "metadata":{"cart":"77"},"currency":"EUR", "amount":1999,"description":"Zwei B\u00fccher","order_id":"A-1"}`)
	require.Equal(t, first.text, again.text)
	require.Equal(t, first.StatusCode, again.StatusCode)
	require.Equal(t, "reused", again.Header.Get("Idempotency-Result"))
	require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
	require.Equal(t, hash, b.payments.request.Hash, "the same request written otherwise is the same request")
	b.command("/v1/orders?x=1", goodOrder)
	require.NotEqual(t, hash, b.payments.request.Hash, "the query is part of the request")
}

func TestReadOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	failed := pending()
	failed.State, failed.Failure = fsm.Failed, &payment.Failure{Code: "card_declined", Message: "No.", ProviderCode: "51"}
	b.payments.order = order(failed, succeeded())
	got := b.send(http.MethodGet, "/v1/orders/A-1", "").object(t)
	require.Equal(t, "paid", got["status"])
	require.Len(t, got["attempts"], 2)
	b.payments.order = order(failed)
	got = b.send(http.MethodGet, "/v1/orders/A-1", "").object(t)
	first := got["attempts"].([]any)[0].(map[string]any)
	require.Equal(t, "open", got["status"])
	require.Equal(t, true, first["can_start_new_attempt"])
	require.Equal(t, map[string]any{"code": "card_declined", "message": "No.", "provider_code": "51"}, first["failure"])
	require.EqualValues(t, 0, got["amount_held"])
}

// The order shows its held money, in any state of its attempts, and the obstacle to another payment: the customer has to wait for a hold
// that may still exist.
func TestHeldMoneyBlocksAnotherPayAndIsShown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	late := pending()
	late.State, late.Captured, late.Refunded = fsm.Failed, 1999, 500
	b.payments.order = order(late)
	got := b.send(http.MethodGet, "/v1/orders/A-1", "").object(t)
	require.Equal(t, "open", got["status"])
	require.EqualValues(t, 1499, got["amount_held"])
	require.Equal(t, false, got["attempts"].([]any)[0].(map[string]any)["can_start_new_attempt"])

	held := pending()
	held.State, held.Authorized = fsm.Failed, 1999
	b.payments.order = order(held)
	got = b.send(http.MethodGet, "/v1/orders/A-1", "").object(t)
	require.EqualValues(t, 0, got["amount_held"])
	require.Equal(t, false, got["attempts"].([]any)[0].(map[string]any)["can_start_new_attempt"])

	for state, retryable := range map[fsm.State]bool{fsm.Failed: true, fsm.Processing: false} {
		held.State = state
		b.payments.err = &payment.InProgressError{Attempt: held}
		res := b.command("/v1/orders/A-1/pay", goodPay)
		require.Equal(t, http.StatusConflict, res.StatusCode)
		require.Equal(t, retryable, res.Header.Get("Retry-After") != "")
		problem := res.object(t)
		require.Equal(t, "payment-in-progress", problem["code"])
		require.Equal(t, retryable, problem["retryable"])
	}
}

func TestOrderThatCannotExistIsNotFound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.order = order()
	for _, id := range []string{"a%20b", "%00", "%2541", "%C3%BC", "a%2Fb", "%FF", strings.Repeat("a", 129), ".%2F."} {
		b.send(http.MethodGet, "/v1/orders/"+id, "", "Authorization: Bearer support").is(t, 404, "not-found")
		b.command("/v1/orders/"+id+"/pay", goodPay, "Authorization: Bearer service-1", "On-Behalf-Of: u1").is(t, 404, "not-found")
		b.send(http.MethodGet, "/v1/orders/"+id, "").is(t, 403, "forbidden")
	}
	require.Zero(t, b.payments.calls)
	require.Equal(t, 200, b.send(http.MethodGet, "/v1/orders/"+strings.Repeat("a", 128), "").StatusCode)
	require.Equal(t, 200, b.send(http.MethodGet, "/v1/orders/%41-%31", "").StatusCode, "an id is the same however it is escaped")
}
