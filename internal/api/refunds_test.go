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

func TestRefund(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.refund = commands.RefundReply{Refund: pendingRefund(), Result: idempotency.Created}
	got := b.command(attemptPath+"/refunds", `{"amount":500,"reason":"One ticket <returned>","expected_refundable":0,"provider_data":{"reverse_transfer":true}}`, "Authorization: Bearer admin")
	require.Equal(t, http.StatusCreated, got.StatusCode)
	require.Equal(t, "created", got.Header.Get("Idempotency-Result"))
	require.Empty(t, got.Header.Get("Idempotency-Replayed"))
	want := `{"refund_id":"01980d3e-9a10-7b55-8f0a-5d6c1e2f3a4b","payment_attempt_id":"01980d3e-7f2a-7cc1-9d2b-3f0e5a6b7c8d",` +
		`"order_id":"A-1","amount":500,"currency":"EUR","status":"pending","reason":"One ticket <returned>","failure":null,"version":1,"origin":"request",` +
		`"created_at":"2026-03-01T09:30:00.120000Z","updated_at":"2026-03-01T09:30:00.120000Z","finalized_at":null}` + "\n"
	require.Equal(t, want, string(got.text), "to the byte")
	amount, expected := int64(500), int64(0)
	require.Equal(t, commands.CreateRefund{
		AttemptID: attemptID, Amount: &amount, Reason: "One ticket <returned>", Expected: &expected,
		ProviderData: gateway.Data{"reverse_transfer": json.RawMessage("true")},
	}, b.payments.refunds)
	require.Equal(t, "admin", b.payments.request.User)
	require.Equal(t, "POST "+attemptPath+"/refunds", b.payments.request.Endpoint)

	b.payments.refund.Result = idempotency.Reused
	got = b.command(attemptPath+"/refunds", ``, "Authorization: Bearer service-1")
	require.Equal(t, http.StatusCreated, got.StatusCode, "the first status code")
	require.Equal(t, "true", got.Header.Get("Idempotency-Replayed"))
	require.Equal(t, commands.CreateRefund{AttemptID: attemptID}, b.payments.refunds)
}

func TestReadRefund(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	over := pendingRefund()
	over.State, over.Version, over.FinalizedAt, over.Reason = fsm.RefundFailed, 2, &now, ""
	over.Failure = &payment.Failure{Code: "provider_rejected", Message: "No.", ProviderCode: "R1"}
	b.payments.refund.Refund = over
	got := b.send(http.MethodGet, "/v1/refunds/"+strings.ToUpper(refundID.String()), "")
	require.Equal(t, http.StatusOK, got.StatusCode)
	o := got.object(t)
	require.Equal(t, "failed", o["status"])
	require.Nil(t, o["reason"])
	require.Equal(t, "2026-03-01T09:30:00.120000Z", o["finalized_at"])
	require.Equal(t, map[string]any{"code": "provider_rejected", "message": "No.", "provider_code": "R1"}, o["failure"])
	require.Equal(t, refundID.String(), b.payments.named)
	require.Contains(t, b.log.String(), `"refund_id":"`+refundID.String()+`"`)

	b.payments.err = payment.ErrRefundNotFound
	b.send(http.MethodGet, "/v1/refunds/"+refundID.String(), "").is(t, 404, "not-found")
	b.payments.err = payment.ErrForbidden
	b.send(http.MethodGet, "/v1/refunds/"+refundID.String(), "").is(t, 403, "forbidden")
}

func TestBadRefundsAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for body, field := range map[string]string{
		`{"amount":0}`:             "amount",
		`{"amount":-1}`:            "amount",
		`{"amount":1.0}`:           "amount",
		`{"amount":"1"}`:           "amount",
		`{"amount":1000000000001}`: "amount",
		`{"reason":1}`:             "reason",
		`{"reason":"` + strings.Repeat("ü", 501) + `"}`:           "reason",
		`{"reason":"a\u0000"}`:                                    "reason",
		`{"expected_refundable":-1}`:                              "expected_refundable",
		`{"expected_refundable":1e3}`:                             "expected_refundable",
		`{"expected_refundable":null}`:                            "expected_refundable",
		`{"amount":1,"expected_refundable":99999999999999999999}`: "expected_refundable",
	} {
		p := b.command(attemptPath+"/refunds", body).is(t, 422, "validation-failed")
		require.Len(t, p.Errors, 1, body)
		require.Equal(t, field, p.Errors[0].Field, body)
	}
	b.command(attemptPath+"/confirm", `{"amount":0}`).is(t, 422, "validation-failed")
	require.Zero(t, b.payments.calls)
}
