package payment

import (
	"errors"
	"fmt"
	"strings"
)

// The vocabulary of refusals. They are matched with errors.Is and errors.As.
var (
	// ErrForbidden is returned when the actor's role or user does not allow it.
	ErrForbidden = errors.New("forbidden")
	// ErrUserMissing is returned when a service names no user that it acts for.
	ErrUserMissing = errors.New("the On-Behalf-Of header is missing")
	// ErrAccountNotOffered is returned when a customer names an account that the configuration does
	// not offer to customers.
	ErrAccountNotOffered = errors.New("the account is not offered to customers")
	// ErrOrderNotFound is returned when the order does not exist.
	ErrOrderNotFound = errors.New("order not found")
	// ErrAttemptNotFound is returned when the attempt does not exist.
	ErrAttemptNotFound = errors.New("payment attempt not found")
	// ErrEventNotFound is returned when the stored event does not exist.
	ErrEventNotFound = errors.New("event not found")
	// ErrEventUnreadable is returned when this version can't read a stored event.
	ErrEventUnreadable = errors.New("event can't be read")
	// ErrRefundNotFound is returned when the refund does not exist.
	ErrRefundNotFound = errors.New("refund not found")
	// ErrDisputeNotFound is returned when the dispute does not exist.
	ErrDisputeNotFound = errors.New("dispute not found")
	// ErrPayoutNotFound is returned when the payout does not exist.
	ErrPayoutNotFound = errors.New("payout not found")
	// ErrOrderExists is returned when the order's id is taken by an order with other content or of
	// another user.
	ErrOrderExists = errors.New("another order has this id")
	// ErrOrderPaid is returned when the order is paid, or a failed attempt of it holds money.
	ErrOrderPaid = errors.New("the order is paid, or a failed attempt holds money")
	// ErrOrderChanged is returned when the order has another version than the caller expected.
	ErrOrderChanged = errors.New("order changed")
	// ErrOrderCancelled is returned when the order's cancellation was requested.
	ErrOrderCancelled = errors.New("the order is cancelled or is being cancelled")
	// ErrStoredMethod is returned when the token of a stored payment method is not declared as one.
	ErrStoredMethod = errors.New("the token is of a stored payment method and not declared so")
	// ErrMethodNotYours is returned when a stored payment method does not exist or is not the customer's.
	ErrMethodNotYours = errors.New("no such payment method of this customer")
	// ErrMethodRemoved is returned when the provider has reported that a stored payment method was removed.
	ErrMethodRemoved = errors.New("payment method was removed")
	// ErrProviderUnavailable is returned when a lookup must come first, and gets no response.
	ErrProviderUnavailable = errors.New("provider unavailable")
	// ErrAttemptFinal is returned when a command would move a final attempt.
	ErrAttemptFinal = errors.New("attempt is final")
	// ErrNotCompletable is returned when an attempt does not wait for its customer, or its provider
	// takes no second step.
	ErrNotCompletable = errors.New("attempt not completable")
	// ErrNotCapturable is returned when there is no authorised money to capture.
	ErrNotCapturable = errors.New("attempt not capturable")
	// ErrCaptureExceeds is returned when the amount to capture is larger than the authorised amount.
	ErrCaptureExceeds = errors.New("capture exceeds authorisation")
	// ErrNotRefundable is returned when the attempt holds no money.
	ErrNotRefundable = errors.New("attempt not refundable")
	// ErrRefundExceeds is returned when the amount is larger than the refundable amount.
	ErrRefundExceeds = errors.New("refund exceeds payment")
	// ErrRefundableChanged is returned when the refundable amount is not the amount that the caller expected.
	ErrRefundableChanged = errors.New("refundable amount changed")
	// ErrDisputeOpen is returned for a refund beside an open dispute that the caller has not acknowledged.
	ErrDisputeOpen = errors.New("a dispute of the payment is open")
	// ErrPaymentAmbiguous is returned for a refund that names no payment, or no capture, of an attempt in which several hold
	// money.
	ErrPaymentAmbiguous = errors.New("several payments or captures hold money")
	// ErrBusy is returned when another command on the same attempt or order is still under way.
	ErrBusy = errors.New("another command is under way")
	// ErrDiscrepancyNotFound is returned when the discrepancy does not exist.
	ErrDiscrepancyNotFound = errors.New("discrepancy not found")
	// ErrResolved is returned when a discrepancy was already resolved in another way.
	ErrResolved = errors.New("the discrepancy is resolved in another way")
	// ErrNotPending is returned when a resolution would move an attempt or a refund that is not pending or does not
	// exist.
	ErrNotPending = errors.New("no pending attempt or refund")
	// ErrHoldsMoney is returned when a resolution would mark an attempt as not paid while it holds money.
	ErrHoldsMoney = errors.New("attempt holds money")
	// ErrResolutionImpossible is returned when a resolution would leave an attempt, a refund or
	// money unwatched, or the provider contradicts it.
	ErrResolutionImpossible = errors.New("resolution not possible")
	// ErrJobNotFound is returned when no bulk job of staff has the id.
	ErrJobNotFound = errors.New("job not found")
	// ErrJobRunning is returned while another bulk job of the same kind is under way.
	ErrJobRunning = errors.New("another job of this kind is running")
	// ErrSecondPerson is returned when a resolution that takes two people is confirmed by the person that proposed it.
	// An example is a resolution that can't be looked up at the provider.
	ErrSecondPerson = errors.New("a second person must agree")
	// ErrOwnResolution is an ErrSecondPerson. It is returned when a person closes a discrepancy that the same person's
	// resolution has opened.
	ErrOwnResolution = fmt.Errorf("%w: the same person's resolution opened it", ErrSecondPerson)
	// ErrPaymentIDMissing is returned when a resolution would mark an attempt or a refund as paid without the provider's
	// id of it.
	ErrPaymentIDMissing = errors.New("the provider's id of the payment or refund is missing")
	// ErrPaymentTaken is returned when the provider's id of the payment belongs to another attempt, or the id of the
	// refund to another refund.
	ErrPaymentTaken = errors.New("the provider's id belongs to another attempt or refund")
	// ErrUnavailable is returned when the storage can't be reached or did not answer in time. The
	// outcome is unknown; the same request may be sent again.
	ErrUnavailable = errors.New("storage unavailable")
	// ErrPaysHeld is returned for a pay or a refund while the account is held: a restored database may have
	// forgotten some.
	ErrPaysHeld = errors.New("pays and refunds wait for a reconciliation")
	// ErrOverloaded is returned when the queue of webhooks is full.
	ErrOverloaded = errors.New("overloaded")
	// ErrDeliveryReplayed is returned when an earlier delivery of the provider had the same id and another body.
	ErrDeliveryReplayed = errors.New("a delivery with this id had another body")
)

// ValidationError is returned when a command's own form is wrong.
type ValidationError struct{ Fields []FieldError }

// FieldError describes the fault of one field and the valid values.
type FieldError struct{ Field, Message string }

// Error implements error.
func (e *ValidationError) Error() string {
	var text strings.Builder
	text.WriteString("validation failed")
	for _, f := range e.Fields {
		text.WriteString("; " + f.Field + ": " + f.Message)
	}
	return text.String()
}

// Invalid is the ValidationError of one field.
func Invalid(field, message string) error {
	return &ValidationError{Fields: []FieldError{{Field: field, Message: message}}}
}

// PanicError is returned for a transaction that ended in a panic and was rolled back. Its item is
// left to a person; all others go on.
type PanicError struct {
	Value any
	Stack []byte
}

// Error implements error.
func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack) }
