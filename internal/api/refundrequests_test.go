package api_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

var _ api.RefundRequests = (*refundrequest.Service)(nil)

var askForRefund = `{"payment_attempt_id":"` + attemptID.String() + `","amount":500,"currency":"EUR","reason":"case 4711"}`

func (d *desk) Create(_ context.Context, who support.Staff, cmd refundrequest.Create) (refundrequest.Request, bool, error) {
	return refundRequest(), d.fresh, d.call(who, fmt.Sprintf("ask %s %d %s", cmd.AttemptID, cmd.Amount, cmd.Currency), cmd.Reason)
}

func (d *desk) Request(_ context.Context, who support.Staff, id uuid.UUID) (refundrequest.Request, error) {
	return refundRequest(), d.call(who, "request "+id.String(), "")
}

func (d *desk) Requests(_ context.Context, who support.Staff, state refundrequest.State, _ support.Page) ([]refundrequest.Request, string, error) {
	return []refundrequest.Request{refundRequest()}, "next", d.call(who, "requests "+string(state), "")
}

func (d *desk) Approve(_ context.Context, who support.Staff, id uuid.UUID, reason string) (refundrequest.Request, error) {
	r := refundRequest()
	refund := payment.RefundID(eventID)
	r.State, r.Decision = refundrequest.Approved, refundrequest.Decision{DecidedBy: who.Subject, DecidedAt: &now, DecisionReason: reason, RefundID: &refund}
	return r, d.call(who, "approve "+id.String(), reason)
}

func (d *desk) Decline(_ context.Context, who support.Staff, id uuid.UUID, reason string) (refundrequest.Request, error) {
	return refundRequest(), d.call(who, "decline "+id.String(), reason)
}

func refundRequest() refundrequest.Request {
	return refundrequest.Request{
		ID: uuid.UUID(eventID), AttemptID: attemptID, OrderID: "A-1", UserID: "u1", Money: payment.Money{Minor: 500, Currency: "EUR"},
		Reason: hostile, By: "sam", CreatedAt: now, State: refundrequest.Open,
	}
}

func TestRefundRequests(t *testing.T) {
	t.Parallel()
	b, d := newDesk(t)
	as := "Authorization: Bearer admin"
	d.fresh = true
	made := b.send(http.MethodPost, "/v1/support/refund-requests", askForRefund, as)
	require.Equal(t, http.StatusCreated, made.StatusCode)
	require.Equal(t, "case 4711", d.reason)
	want := map[string]any{
		"refund_request_id": eventID.String(), "payment_attempt_id": attemptID.String(), "order_id": "A-1", "user_id": "u1", "amount": 500.0, "currency": "EUR",
		"status": "open", "reason": hostile, "requested_by": "sam", "created_at": "2026-03-01T09:30:00.120000Z",
		"decided_by": nil, "decision_reason": nil, "decided_at": nil, "refund_id": nil,
	}
	require.Equal(t, want, made.object(t))

	approve := "/v1/support/refund-requests/" + eventID.String() + "/approve"
	want["status"], want["decided_by"], want["decided_at"], want["refund_id"] = "approved", "admin", "2026-03-01T09:30:00.120000Z", eventID.String()
	for _, body := range []string{"", "{}"} {
		require.Equal(t, want, b.send(http.MethodPost, approve, body, as).object(t), "a reason is not needed")
	}
	list := b.send(http.MethodGet, "/v1/support/refund-requests", "", as).object(t)
	require.Equal(t, "next", list["next_cursor"])
	require.Len(t, list["items"], 1)

	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{refundrequest.ErrOwn, 409, "second-person-needed"},
		{refundrequest.ErrDecided, 409, "refund-request-decided"},
		{refundrequest.ErrNotFound, 404, "not-found"},
		{payment.ErrRefundExceeds, 409, "refund-exceeds-payment"},
		{payment.ErrNotRefundable, 409, "attempt-not-refundable"},
		{payment.ErrPaysHeld, 503, "reconciliation-required"},
	} {
		d.err = c.err
		b.send(http.MethodPost, approve, "", as).is(t, c.status, c.code)
	}
}

func TestBadRefundRequestsAreRefused(t *testing.T) {
	t.Parallel()
	service := support.New(support.Options{Store: onlyDeeds{}})
	b := newBench(t, func(o *api.Options) {
		o.Support, o.Jobs, o.RefundRequests = service, nil, refundrequest.New(nil, nil, service)
	})
	id := attemptID.String()
	for body, field := range map[string]string{
		`{"payment_attempt_id":"` + id + `","reason":"r"}`:                             "amount",
		`{"amount":1,"reason":"r"}`:                                                    "payment_attempt_id",
		`{"payment_attempt_id":"` + id + `","amount":0,"reason":"r"}`:                  "amount",
		`{"payment_attempt_id":"` + id + `","amount":1,"currency":"eur","reason":"r"}`: "currency",
		`{"payment_attempt_id":"` + id + `","amount":1.0,"reason":"r"}`:                "amount",
		`{"payment_attempt_id":"` + id + `","amount":1}`:                               "reason",
	} {
		got := b.send(http.MethodPost, "/v1/support/refund-requests", body, "Authorization: Bearer support").is(t, 422, "validation-failed")
		require.Equal(t, field, got.Errors[0].Field, body)
	}
	b.send(http.MethodGet, "/v1/support/refund-requests?status=lost", "", "Authorization: Bearer support").is(t, 422, "validation-failed")
	b.send(http.MethodPost, "/v1/support/refund-requests/"+eventID.String()+"/decline", "{}", "Authorization: Bearer support").is(t, 422, "validation-failed")
	b.send(http.MethodPost, "/v1/support/refund-requests/"+eventID.String()+"/approve", "", "Authorization: Bearer support").is(t, 403, "forbidden")
}
