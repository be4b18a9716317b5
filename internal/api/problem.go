package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/auth"
	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/stream"
	"github.com/paylatch/paylatch/webhooks"
)

// row says which problem an error is. What the problem's status, title and text
// are is in codes.go.
type row struct {
	err  error
	code string
}

// rows is the table of all errors that may come out of a use case. The first
// that matches counts.
func rows() []row {
	return []row{
		{payment.ErrUnavailable, "storage-unavailable"},
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
		{payment.ErrOrderExists, "order-exists"},
		{payment.ErrOrderPaid, "order-already-paid"},
		{payment.ErrOrderCancelled, "order-cancelled"},
		{payment.ErrStoredMethod, "stored-payment-method"},
		{payment.ErrMethodNotYours, "payment-method-not-yours"},
		{payment.ErrProviderUnavailable, "provider-unavailable"},
		{payment.ErrAttemptFinal, "attempt-final"},
		{payment.ErrNotCapturable, "attempt-not-capturable"},
		{payment.ErrCaptureExceeds, "capture-exceeds-authorization"},
		{payment.ErrNotRefundable, "attempt-not-refundable"},
		{payment.ErrRefundExceeds, "refund-exceeds-payment"},
		{payment.ErrRefundableChanged, "refundable-changed"},
		{payment.ErrBusy, "request-in-progress"},
		{payment.ErrDiscrepancyNotFound, "not-found"},
		{payment.ErrResolved, "discrepancy-already-resolved"},
		{payment.ErrNotPending, "attempt-not-pending"},
		{payment.ErrHoldsMoney, "attempt-holds-money"},
		// *payment.ResolutionError and *payment.LateMoneyError are these with more to say.
		{payment.ErrResolutionImpossible, "resolution-not-possible"},
		{payment.ErrSecondPerson, "second-person-needed"},
		{payment.ErrPaymentIDMissing, "provider-payment-id-required"},
		{payment.ErrPaymentTaken, "provider-payment-taken"},

		{idempotency.ErrKeyMissing, "idempotency-key-missing"},
		{idempotency.ErrKeyInvalid, "idempotency-key-invalid"},
		{idempotency.ErrKeyReused, "idempotency-key-reused"},
		{idempotency.ErrInProgress, "request-in-progress"},
		{idempotency.ErrFenced, "request-in-progress"},

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

		// These say that the program or its configuration is wrong.
		{webhooks.ErrConfig, "internal"},
		{auth.ErrSealed, "internal"},
		{payment.ErrNotSent, "internal"},
		{payment.ErrUnfit, "internal"},
		{payment.ErrHeldBack, "internal"},
		{payment.ErrNoSuchPayment, "internal"},
		{payment.ErrNotTold, "internal"},
		{payment.ErrUnsupported, "internal"},
		{payment.ErrLicenceEnded, "internal"},

		{context.DeadlineExceeded, "overloaded"},
		{context.Canceled, "overloaded"},
		{echo.ErrNotFound, "not-found"},
		{echo.ErrMethodNotAllowed, "method-not-allowed"},
	}
}

// refusal is an error that only this package makes. An empty detail is the
// code's own.
type refusal struct{ code, detail string }

// Error implements error.
func (r *refusal) Error() string { return r.code + ": " + r.detail }

func refuse(code, detail string) error { return &refusal{code, detail} }

// codeOf reads the table. What is not in it is internal.
func (c catalogue) codeOf(err error) string {
	if code := codeOfType(err); code != "" {
		return code
	}
	for _, r := range c.rows {
		if errors.Is(err, r.err) {
			return r.code
		}
	}
	return "internal"
}

// codeOfType is the part of the table for errors that carry something.
func codeOfType(err error) string {
	var (
		refused  *refusal
		invalid  *payment.ValidationError
		progress *payment.InProgressError
		quota    *idempotency.QuotaError
		binding  *echo.HTTPError
		role     *payment.RoleError
		card     *cardNumberError
	)
	switch {
	case errors.As(err, &refused):
		return refused.code
	case errors.As(err, &invalid):
		return "validation-failed"
	case errors.As(err, &card):
		return "card-number-refused"
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
