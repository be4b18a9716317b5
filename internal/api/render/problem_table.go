package render

import (
	"context"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/platform/stream"
	"github.com/paylatch/paylatch/webhooks"
)

// row is which problem an error is.
type row struct {
	err  error
	code string
}

// rows is the table of all errors of the use cases. The first that matches counts.
func rows() []row { return append(paymentRows(), roomRows()...) }

func paymentRows() []row {
	return []row{
		{payment.ErrUnavailable, "storage-unavailable"},
		{payment.ErrPaysHeld, "reconciliation-required"},
		{payment.ErrOverloaded, "overloaded"},
		{payment.ErrDeliveryReplayed, "webhook-replayed"},
		{payment.ErrForbidden, "forbidden"},
		{payment.ErrUserMissing, "on-behalf-of-missing"},
		{payment.ErrAccountNotOffered, "account-not-offered"},
		{payment.ErrOrderNotFound, "not-found"},
		{payment.ErrAttemptNotFound, "not-found"},
		{payment.ErrEventNotFound, "not-found"},
		{payment.ErrEventUnreadable, "event-unreadable"},
		{payment.ErrRefundNotFound, "not-found"},
		{payment.ErrDisputeNotFound, "not-found"},
		{payment.ErrPayoutNotFound, "not-found"},
		{payment.ErrOrderExists, "order-exists"},
		{payment.ErrOrderPaid, "order-already-paid"},
		{payment.ErrOrderCancelled, "order-cancelled"},
		{payment.ErrOrderChanged, "order-changed"},
		{payment.ErrStoredMethod, "stored-payment-method"},
		{payment.ErrMethodRemoved, "payment-method-removed"},
		{payment.ErrMethodNotYours, "payment-method-not-yours"},
		{payment.ErrProviderUnavailable, "provider-unavailable"},
		{payment.ErrAttemptFinal, "attempt-final"},
		{payment.ErrNotCapturable, "attempt-not-capturable"},
		{payment.ErrNotCompletable, "attempt-not-completable"},
		{payment.ErrCaptureExceeds, "capture-exceeds-authorization"},
		{payment.ErrNotRefundable, "attempt-not-refundable"},
		{payment.ErrRefundExceeds, "refund-exceeds-payment"},
		{payment.ErrRefundableChanged, "refundable-changed"},
		{payment.ErrDisputeOpen, "dispute-open"},
		{payment.ErrPaymentAmbiguous, "payment-ambiguous"},
		{payment.ErrBusy, "request-in-progress"},
		{payment.ErrDiscrepancyNotFound, "not-found"},
		{payment.ErrJobNotFound, "not-found"},
		{payment.ErrJobRunning, "job-running"},
		{payment.ErrResolved, "discrepancy-already-resolved"},
		{payment.ErrAssigned, "discrepancy-assigned"}, // it is a *payment.AssignedError
		{payment.ErrNotPending, "attempt-not-pending"},
		{payment.ErrHoldsMoney, "attempt-holds-money"},
		// *payment.ResolutionError and *payment.LateMoneyError are these with a detail of their own.
		{payment.ErrResolutionImpossible, "resolution-not-possible"},
		{payment.ErrOwnResolution, "second-person-needed"},
		{payment.ErrSecondPerson, "second-person-needed"},
		{payment.ErrPaymentIDMissing, "provider-payment-id-required"},
		{payment.ErrPaymentTaken, "provider-payment-taken"},
	}
}

// roomRows returns the errors of the packages around payment.
func roomRows() []row {
	return []row{
		{idempotency.ErrKeyMissing, "idempotency-key-missing"},
		{idempotency.ErrKeyInvalid, "idempotency-key-invalid"},
		{idempotency.ErrKeyInQuery, "idempotency-key-in-query"},
		{idempotency.ErrKeyReused, "idempotency-key-reused"},
		{idempotency.ErrInProgress, "request-in-progress"},
		{idempotency.ErrFenced, "request-in-progress"},

		{refundrequest.ErrNotFound, "not-found"},
		{refundrequest.ErrDecided, "refund-request-decided"},
		{refundrequest.ErrOwn, "second-person-needed"},
		{authz.ErrKeyNotFound, "not-found"},

		{outbox.ErrCursorExpired, "cursor-expired"},
		{outbox.ErrNoEvent, "internal"},
		{endpoint.ErrNotFound, "not-found"},
		{lease.ErrHeld, "internal"},
		{lease.ErrLost, "internal"},
		{endpoint.ErrPrivateAddress, "internal"},

		{stream.ErrFull, "overloaded"},
		{stream.ErrGroupFull, "rate-limited"},
		{stream.ErrEnded, "overloaded"},

		{auth.ErrUnauthenticated, "unauthenticated"},
		{auth.ErrUnavailable, "authentication-unavailable"},

		{webhooks.ErrSignatureMissing, "webhook-signature-missing"},
		{webhooks.ErrSignatureMalformed, "webhook-signature-malformed"},
		{webhooks.ErrSignatureInvalid, "webhook-signature-invalid"},
		{webhooks.ErrTooOld, "webhook-too-old"},
		{webhooks.ErrTooNew, "webhook-too-new"},
		{webhooks.ErrSender, "webhook-sender-refused"},
		{webhooks.ErrPayload, "webhook-payload-invalid"},
		{webhooks.ErrUnavailable, "webhook-verification-unavailable"},

		// These are faults of the program or of its configuration.
		{webhooks.ErrConfig, "internal"},
		{auth.ErrSealed, "internal"},
		{gateway.ErrAccountPaused, "account-paused"},
		{gateway.ErrNotSent, "internal"},
		{gateway.ErrUnsupportedRequest, "internal"},
		{gateway.ErrThrottled, "internal"},
		{gateway.ErrNoSuchPayment, "internal"},
		{gateway.ErrInconclusive, "internal"},
		{gateway.ErrUnsupported, "internal"},
		{gateway.ErrPermitEnded, "internal"},

		{context.DeadlineExceeded, "overloaded"},
		{context.Canceled, "overloaded"},
		{echo.ErrNotFound, "not-found"},
		{echo.ErrMethodNotAllowed, "method-not-allowed"},
	}
}

// ProblemError is an error that the HTTP side makes itself.
type ProblemError struct {
	Code string
	// Detail replaces the detail of the code, unless it is empty.
	Detail string
	Fields []payment.FieldError
}

// Error implements error.
func (r *ProblemError) Error() string { return r.Code + ": " + r.Detail }

// EarlyError is a refusal that comes before the key of the command is looked up: an earlier request under that key may have
// been executed.
type EarlyError struct{ Err error }

// Error implements error.
func (e *EarlyError) Error() string { return e.Err.Error() }

// Unwrap returns the refusal.
func (e *EarlyError) Unwrap() error { return e.Err }

// Refuse returns a *ProblemError.
func Refuse(code, detail string) error { return &ProblemError{Code: code, Detail: detail} }

// codeOf is Code.
func (c *Catalogue) codeOf(err error) string { return codeIn(c.rows, err) }

// CodeOf returns the code of an error. An error outside of the table has the code internal.
func CodeOf(err error) string { return codeIn(rows(), err) }

func codeIn(rows []row, err error) string {
	if code := codeOfType(err); code != "" {
		return code
	}
	for _, r := range rows {
		if errors.Is(err, r.err) {
			return r.code
		}
	}
	return "internal"
}

// codeOfType is the part of the table for errors that carry something.
func codeOfType(err error) string {
	var (
		refused  *ProblemError
		invalid  *payment.ValidationError
		progress *payment.InProgressError
		quota    *idempotency.QuotaError
		binding  *echo.HTTPError
		role     *authz.RoleError
	)
	switch {
	case errors.As(err, &refused):
		return refused.Code
	case errors.As(err, &invalid):
		return "validation-failed"
	case errors.As(err, &role):
		return "forbidden"
	case errors.As(err, &progress):
		return "payment-in-progress"
	case errors.As(err, &quota):
		return "quota-exceeded"
	case errors.As(err, &binding) && binding.Code == http.StatusBadRequest:
		return "malformed-request"
	}
	return ""
}
