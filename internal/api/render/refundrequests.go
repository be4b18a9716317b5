package render

import (
	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
)

// SupportRefundRequests renders a page of refund requests.
func SupportRefundRequests(list []refundrequest.Request, next string) gen.SupportRefundRequests {
	return gen.SupportRefundRequests{Items: mapped(list, SupportRefundRequest), NextCursor: orNull(next)}
}

// SupportRefundRequest renders a refund request.
func SupportRefundRequest(r refundrequest.Request) gen.SupportRefundRequest {
	out := gen.SupportRefundRequest{
		RefundRequestID: r.ID.String(), PaymentAttemptID: r.AttemptID.String(), OrderID: string(r.OrderID), UserID: string(r.UserID),
		Amount: r.Money.Minor, Currency: string(r.Money.Currency), Status: gen.SupportRefundRequestStatus(r.State), Reason: r.Reason, RequestedBy: r.By,
		CreatedAt: gen.Micros(r.CreatedAt), DecidedBy: orNull(r.DecidedBy), DecisionReason: orNull(r.DecisionReason), DecidedAt: (*gen.Micros)(r.DecidedAt),
	}
	if r.RefundID != nil {
		out.RefundID = orNull(r.RefundID.String())
	}
	return out
}
