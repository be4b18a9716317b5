package postgres

import (
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// refundFromRow is a refund without the schedule of its operation.
func refundFromRow(row *dbsqlc.Refunds, readAt time.Time) payment.Refund {
	r := payment.Refund{
		ID: payment.RefundID(row.RefundID), OrderID: payment.OrderID(row.OrderID), AttemptID: payment.AttemptID(row.AttemptID),
		Origin: payment.RefundOrigin(row.Origin), UserID: payment.UserID(orEmpty(row.UserID)), RequestID: payment.RequestID(orEmpty(row.ClientRequestID)),
		RequestHash: idempotency.HashOf(row.RequestHash), Account: row.Account, ProviderRefundID: row.ProviderRefundID, ProviderPaymentID: row.ProviderPaymentID,
		State:  fsm.RefundState(row.Status),
		Money:  payment.Money{Minor: row.Amount, Currency: payment.Currency(row.Currency)},
		Reason: row.Reason, Version: int(row.Version), CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
		FinalizedAt: row.FinalizedAt, ReadAt: readAt,
	}
	if row.FailureCode != "" {
		r.Failure = &payment.Failure{Code: row.FailureCode, Message: row.FailureMessage, ProviderCode: row.FailureProviderCode}
	}
	return r
}

// refundInsertParams is a new refund.
func refundInsertParams(r payment.Refund) *dbsqlc.RefundInsertParams {
	failure := failureOf(r.Failure)
	p := &dbsqlc.RefundInsertParams{
		OrderID: string(r.OrderID), RefundID: uuid.UUID(r.ID), AttemptID: uuid.UUID(r.AttemptID), Origin: string(r.Origin),
		Account: r.Account, ProviderRefundID: r.ProviderRefundID, ProviderPaymentID: r.ProviderPaymentID,
		Status: dbsqlc.RefundStatus(r.State), Amount: r.Money.Minor, Currency: string(r.Money.Currency), Reason: r.Reason,
		FailureCode: failure.Code, FailureMessage: failure.Message, FailureProviderCode: failure.ProviderCode,
		Version: int32(r.Version), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, FinalizedAt: r.FinalizedAt, //nolint:gosec // a version
	}
	if r.Origin == payment.RefundByRequest {
		user, request := string(r.UserID), string(r.RequestID)
		p.UserID, p.ClientRequestID, p.RequestHash = &user, &request, r.RequestHash[:]
	}
	return p
}

// refundAdvanceParams returns the columns of a changed refund. Its former version is was.
func refundAdvanceParams(r payment.Refund, was int) *dbsqlc.RefundAdvanceParams {
	failure := failureOf(r.Failure)
	return &dbsqlc.RefundAdvanceParams{
		OrderID: string(r.OrderID), RefundID: uuid.UUID(r.ID), Was: int32(was), //nolint:gosec // a version
		ProviderRefundID: r.ProviderRefundID, Status: dbsqlc.RefundStatus(r.State),
		FailureCode: failure.Code, FailureMessage: failure.Message, FailureProviderCode: failure.ProviderCode,
		Version: int32(r.Version), UpdatedAt: r.UpdatedAt, FinalizedAt: r.FinalizedAt, //nolint:gosec // a version
	}
}

func failureOf(f *payment.Failure) payment.Failure {
	if f == nil {
		return payment.Failure{}
	}
	return *f
}
