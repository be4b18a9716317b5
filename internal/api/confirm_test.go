package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

var attemptPath = "/v1/payment-attempts/" + attemptID.String()

func TestConfirm(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.reply = commands.Reply{View: payment.View{Attempt: succeeded()}, Result: idempotency.Created}
	got := b.command(attemptPath+"/confirm", `{"amount":1500,"final":true,"provider_data":{"transfer_data":{"amount":1000}}}`)
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Equal(t, "created", got.Header.Get("Idempotency-Result"))
	require.Empty(t, got.Header.Get("Idempotency-Replayed"))
	require.Equal(t, `"3"`, got.Header.Get("ETag"))
	require.Empty(t, got.Header.Get("Retry-After"))
	require.Equal(t, "succeeded", got.object(t)["status"])
	require.NotContains(t, got.object(t), "status_token", "in the answers to pay only")
	amount := int64(1500)
	require.Equal(t, commands.Confirm{
		AttemptID: attemptID, Amount: &amount, Final: new(true), ProviderData: gateway.Data{"transfer_data": json.RawMessage(`{"amount":1000}`)},
	}, b.payments.confirms)
	require.Equal(t, "POST "+attemptPath+"/confirm", b.payments.request.Endpoint)

	b.payments.reply.Result = idempotency.Reused
	got = b.command(attemptPath+"/confirm", ``)
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Equal(t, "reused", got.Header.Get("Idempotency-Result"))
	require.Equal(t, "true", got.Header.Get("Idempotency-Replayed"))
	require.Equal(t, commands.Confirm{AttemptID: attemptID}, b.payments.confirms, "no amount: all of it")
}

func TestCancelAnAttempt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.reply = commands.Reply{View: payment.View{Attempt: pending()}, Result: idempotency.Created}
	got := b.command(attemptPath+"/cancel", ``)
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Equal(t, "pending", got.object(t)["status"], "until the provider says so")
	require.Equal(t, "1", got.Header.Get("Retry-After"))
	require.Equal(t, attemptID.String(), b.payments.named)

	over := pending()
	over.State, over.Version, over.FinalizedAt = fsm.Failed, 3, &now
	over.Failure = &payment.Failure{Code: "canceled", Message: "The payment was cancelled."}
	b.payments.reply = commands.Reply{View: payment.View{Attempt: over, CanStartNew: true}, Result: idempotency.Reused}
	got = b.command(attemptPath+"/cancel", `{}`)
	require.Equal(t, map[string]any{"code": "canceled", "message": "The payment was cancelled.", "provider_code": nil}, got.object(t)["failure"])
	require.Equal(t, true, got.object(t)["can_start_new_attempt"])
	require.Equal(t, "true", got.Header.Get("Idempotency-Replayed"))
}

func TestCancelAnOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.order, b.payments.result = order(), idempotency.Created
	b.payments.order.CancelRequestedAt = &now
	got := b.command("/v1/orders/A-1/cancel", ``)
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Equal(t, "cancelled", got.object(t)["status"])
	require.Equal(t, "created", got.Header.Get("Idempotency-Result"))
	require.Equal(t, "A-1", b.payments.named)
	require.Equal(t, "POST /v1/orders/A-1/cancel", b.payments.request.Endpoint)

	b.payments.order, b.payments.result = order(pending()), idempotency.Reused
	b.payments.order.CancelRequestedAt = &now
	got = b.command("/v1/orders/A-1/cancel", `{}`)
	require.Equal(t, "open", got.object(t)["status"], "its attempt is still being cancelled")
	require.Equal(t, "true", got.Header.Get("Idempotency-Replayed"))
}

// A command that needs no body has one that may be left out.
func TestNoBodyIsAnEmptyObject(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.order, b.payments.reply.View, b.payments.refund.Refund = order(), payment.View{Attempt: pending()}, pendingRefund()
	b.payments.result, b.payments.reply.Result, b.payments.refund.Result = "created", "created", "created"
	for _, path := range []string{"/v1/orders/A-1/cancel", attemptPath + "/confirm", attemptPath + "/cancel", attemptPath + "/refunds"} {
		var hash idempotency.Hash
		for i, body := range []string{``, `{}`, " {\n} "} {
			got := b.command(path, body)
			require.Less(t, got.StatusCode, 300, "%s %q", path, body)
			if i > 0 {
				require.Equal(t, hash, b.payments.request.Hash, "%s %q", path, body)
			}
			hash = b.payments.request.Hash
		}
		require.Less(t, b.command(path, ``, "Content-Type: application/json").StatusCode, 300)
		calls := b.payments.calls
		b.command(path, ``, "Content-Type: text/plain").is(t, 415, "unsupported-media-type")
		b.command(path, `{}`, "Content-Type: text/plain").is(t, 415, "unsupported-media-type")
		for _, bad := range []string{`{"user_id":"u2"}`, `[]`, `null`, `{}{}`, `{`, `{"amount":1,"amount":1}`} {
			b.command(path, bad).is(t, 400, "malformed-request")
		}
		require.Equal(t, calls, b.payments.calls)
	}
}

func TestAnAttemptIsTheSameHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.reply = commands.Reply{View: payment.View{Attempt: pending()}, Result: idempotency.Created}
	b.command(attemptPath+"/cancel", ``)
	first := b.payments.request
	b.command("/v1/payment-attempts/"+strings.ToUpper(attemptID.String())+"/cancel", ``)
	require.Equal(t, first.Endpoint, b.payments.request.Endpoint)
	require.Equal(t, first.Hash, b.payments.request.Hash)
	b.command(attemptPath+"/confirm", ``)
	require.NotEqual(t, first.Hash, b.payments.request.Hash)
}

func TestCommandsOnWhatCannotBe(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, id := range []string{"1", "%00", strings.ReplaceAll(attemptID.String(), "-", "")} {
		for _, verb := range []string{"confirm", "cancel", "refunds"} {
			b.command("/v1/payment-attempts/"+id+"/"+verb, ``, "Authorization: Bearer service-1", "On-Behalf-Of: u1").is(t, 404, "not-found")
		}
		b.send(http.MethodGet, "/v1/refunds/"+id, "", "Authorization: Bearer support").is(t, 404, "not-found")
		b.send(http.MethodGet, "/v1/refunds/"+id, "").is(t, 403, "forbidden")
	}
	b.command("/v1/orders/a%20b/cancel", ``, "Authorization: Bearer service-1", "On-Behalf-Of: u1").is(t, 404, "not-found")
	require.Zero(t, b.payments.calls)
}
