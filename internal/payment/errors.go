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
	// ErrUserMissing is returned when a service does not say for whom it acts.
	ErrUserMissing = errors.New("on behalf of nobody")
	// ErrAccountNotOffered is returned when a customer names an account that the
	// configuration does not offer to customers.
	ErrAccountNotOffered = errors.New("account not offered")
	// ErrOrderNotFound is returned when there is no such order.
	ErrOrderNotFound = errors.New("order not found")
	// ErrAttemptNotFound is returned when there is no such attempt.
	ErrAttemptNotFound = errors.New("payment attempt not found")
	// ErrEventNotFound is returned when there is no such stored event.
	ErrEventNotFound = errors.New("event not found")
	// ErrEventUnreadable is returned when this version can't read what was stored of an
	// event.
	ErrEventUnreadable = errors.New("event can't be read")
	// ErrRefundNotFound is returned when there is no such refund.
	ErrRefundNotFound = errors.New("refund not found")
	// ErrOrderExists is returned when the order's id is taken by an order with
	// other content or of another user.
	ErrOrderExists = errors.New("order exists")
	// ErrOrderPaid is returned when the order is paid, or an attempt of it holds
	// money although it failed.
	ErrOrderPaid = errors.New("order already paid")
	// ErrOrderCancelled is returned when somebody wished the order cancelled.
	ErrOrderCancelled = errors.New("order cancelled")
	// ErrStoredMethod is returned when the token of a stored payment method is not
	// called one.
	ErrStoredMethod = errors.New("stored payment method")
	// ErrMethodNotYours is returned when a stored payment method is not the
	// customer's, or there is none of that name.
	ErrMethodNotYours = errors.New("payment method of another customer")
	// ErrProviderUnavailable is returned when a provider has to be asked before
	// anything is begun, and does not answer.
	ErrProviderUnavailable = errors.New("provider unavailable")
	// ErrAttemptFinal is returned when a final attempt is to be moved.
	ErrAttemptFinal = errors.New("attempt is final")
	// ErrNotCapturable is returned when there is no authorised money to capture.
	ErrNotCapturable = errors.New("attempt not capturable")
	// ErrCaptureExceeds is returned when more is to be captured than was
	// authorised.
	ErrCaptureExceeds = errors.New("capture exceeds authorisation")
	// ErrNotRefundable is returned when the attempt holds no money.
	ErrNotRefundable = errors.New("attempt not refundable")
	// ErrRefundExceeds is returned when more is to be refunded than is left.
	ErrRefundExceeds = errors.New("refund exceeds payment")
	// ErrRefundableChanged is returned when another amount is left to refund than
	// the caller expected.
	ErrRefundableChanged = errors.New("refundable amount changed")
	// ErrBusy is returned when another command on the same attempt or order is
	// still under way.
	ErrBusy = errors.New("another command is under way")
	// ErrDiscrepancyNotFound is returned when there is no such discrepancy.
	ErrDiscrepancyNotFound = errors.New("discrepancy not found")
	// ErrResolved is returned when a discrepancy was resolved otherwise before.
	ErrResolved = errors.New("discrepancy is resolved")
	// ErrNotPending is returned when a resolution is to move an attempt, or a refund,
	// that is not pending, or there is none.
	ErrNotPending = errors.New("no pending attempt")
	// ErrHoldsMoney is returned when an attempt is to be called not paid while it
	// holds money.
	ErrHoldsMoney = errors.New("attempt holds money")
	// ErrResolutionImpossible is returned when a resolution would leave an attempt, a
	// refund or money that nobody looks at any more, or the provider contradicts it.
	ErrResolutionImpossible = errors.New("resolution not possible")
	// ErrSecondPerson is returned when what one person called paid, and the provider
	// can't be asked about, is called so by the same person again.
	ErrSecondPerson = errors.New("a second person must agree")
	// ErrPaymentIDMissing is returned when an attempt, or a refund, is to be called paid
	// without the provider's id of it.
	ErrPaymentIDMissing = errors.New("the provider's payment id is missing")
	// ErrPaymentTaken is returned when the provider's id of the payment belongs to
	// another attempt, or that of the refund to another refund.
	ErrPaymentTaken = errors.New("the payment belongs to another attempt")
	// ErrUnavailable is returned when the storage can't be reached or did not
	// answer in time. Nothing is known to have happened; the same request may be
	// sent again.
	ErrUnavailable = errors.New("storage unavailable")
	// ErrOverloaded is returned when the queue of webhooks is full.
	ErrOverloaded = errors.New("overloaded")
	// ErrDeliveryReplayed is returned when the id of one delivery of a provider came
	// before with another body.
	ErrDeliveryReplayed = errors.New("delivery replayed")
)

// RoleError is the ErrForbidden that another role would help against.
type RoleError struct {
	Needed []Role
	// Or is what else would help, as something to do; empty for nothing.
	Or string
}

// Error implements error.
func (e *RoleError) Error() string { return ErrForbidden.Error() + ": it takes " + e.Roles() }

// Roles is the roles of which one is needed, in words.
func (e *RoleError) Roles() string {
	names := make([]string, len(e.Needed))
	for i, role := range e.Needed {
		names[i] = string(role)
	}
	if last := len(names) - 1; last > 0 {
		names = []string{strings.Join(names[:last], ", ") + " or " + names[last]}
	}
	return "the role " + strings.Join(names, "")
}

// Unwrap makes it an ErrForbidden.
func (*RoleError) Unwrap() error { return ErrForbidden }

// ResolutionError is the ErrResolutionImpossible that says why, and what helps.
type ResolutionError struct{ Reason string }

// Error implements error.
func (e *ResolutionError) Error() string { return ErrResolutionImpossible.Error() + ": " + e.Reason }

// Unwrap makes it an ErrResolutionImpossible.
func (*ResolutionError) Unwrap() error { return ErrResolutionImpossible }

// InProgressError is returned when the order has a live attempt of another
// request.
type InProgressError struct{ Attempt Attempt }

// Error implements error.
func (e *InProgressError) Error() string { return "payment in progress: " + e.Attempt.ID.String() }

// LateMoneyText is what a customer is told, everywhere in the same words, whose payment had
// failed and arrived after all, as long as nobody has decided what becomes of it.
const LateMoneyText = "Your payment arrived after all; the shop is looking at it."

// LateMoneyError is the ErrOrderPaid of an order that no attempt has paid: one that failed
// holds money.
type LateMoneyError struct{ Attempt Attempt }

// Error implements error.
func (e *LateMoneyError) Error() string {
	return ErrOrderPaid.Error() + ": by late money of " + e.Attempt.ID.String()
}

// Unwrap makes it an ErrOrderPaid.
func (*LateMoneyError) Unwrap() error { return ErrOrderPaid }

// ValidationError is returned when a command's own form is wrong.
type ValidationError struct{ Fields []FieldError }

// FieldError says what is wrong with one field and what would be right.
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

func invalid(field, message string) error {
	return &ValidationError{Fields: []FieldError{{Field: field, Message: message}}}
}

// PanicError is returned for a transaction that ended in a panic and was rolled back. What
// it was about is left to a person; everything else goes on.
type PanicError struct {
	Value any
	Stack []byte
}

// Error implements error.
func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack) }
