package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// SupportAskForRefund handles POST /v1/support/refund-requests.
func (s *server) SupportAskForRefund(ctx context.Context, r gen.SupportAskForRefundRequestObject) (gen.SupportAskForRefundResponseObject, error) {
	x, body := ExchangeOf(ctx), valueOf(r.Body)
	id, err := idOf(ctx, s, support.AskedForRefund, "attempt", body.PaymentAttemptID, payment.ParseAttemptID)
	if err != nil {
		return nil, err
	}
	x.Attempt = id.String()
	made, fresh, err := s.RefundRequests.Create(ctx, x.Staff(), refundrequest.Create{
		AttemptID: id, Amount: body.Amount, Currency: payment.Currency(valueOf(body.Currency)), Reason: valueOf(body.Reason),
	})
	switch {
	case err != nil:
		return nil, err
	case !fresh:
		return response{http.StatusOK, render.SupportRefundRequest(made)}, nil
	}
	return response{http.StatusCreated, render.SupportRefundRequest(made)}, nil
}

// SupportRefundRequests handles GET /v1/support/refund-requests.
func (s *server) SupportRefundRequests(ctx context.Context, r gen.SupportRefundRequestsRequestObject) (gen.SupportRefundRequestsResponseObject, error) {
	page, err := support.ParsePage(valueOf(r.Params.Cursor), valueOf(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	list, next, err := s.RefundRequests.Requests(ctx, ExchangeOf(ctx).Staff(), refundrequest.State(valueOf(r.Params.Status)), page)
	if err = partial(ctx, err); err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportRefundRequests(list, next)}, nil
}

// SupportRefundRequest handles GET /v1/support/refund-requests/{refund_request_id}.
func (s *server) SupportRefundRequest(ctx context.Context, r gen.SupportRefundRequestRequestObject) (gen.SupportRefundRequestResponseObject, error) {
	return s.refundRequest(ctx, support.ViewedRequest, r.RefundRequestID, s.RefundRequests.Request)
}

// SupportApproveRefund handles POST /v1/support/refund-requests/{refund_request_id}/approve.
func (s *server) SupportApproveRefund(ctx context.Context, r gen.SupportApproveRefundRequestObject) (gen.SupportApproveRefundResponseObject, error) {
	return s.refundRequest(ctx, support.ApprovedRefund, r.RefundRequestID, func(ctx context.Context, who support.Staff, id uuid.UUID) (refundrequest.Request, error) {
		return s.RefundRequests.Approve(ctx, who, id, valueOf(valueOf(r.Body).Reason))
	})
}

// SupportDeclineRefund handles POST /v1/support/refund-requests/{refund_request_id}/decline.
func (s *server) SupportDeclineRefund(ctx context.Context, r gen.SupportDeclineRefundRequestObject) (gen.SupportDeclineRefundResponseObject, error) {
	return s.refundRequest(ctx, support.DeclinedRefund, r.RefundRequestID, func(ctx context.Context, who support.Staff, id uuid.UUID) (refundrequest.Request, error) {
		return s.RefundRequests.Decline(ctx, who, id, valueOf(valueOf(r.Body).Reason))
	})
}

// refundRequest responds with the request of an id, after an action on it.
func (s *server) refundRequest(
	ctx context.Context, action support.Action, text string, do func(ctx context.Context, who support.Staff, id uuid.UUID) (refundrequest.Request, error),
) (response, error) {
	id, err := idOf(ctx, s, action, "refund_request", text, refundrequest.ParseID)
	if err != nil {
		return response{}, err
	}
	found, err := do(ctx, ExchangeOf(ctx).Staff(), id)
	if err != nil {
		return response{}, err
	}
	return response{http.StatusOK, render.SupportRefundRequest(found)}, nil
}
