package console

import (
	"errors"
	"net/http"
	"strings"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

// This file has the errors that only pages have, and the words of a page for each error.

// The refusals of pages alone.
var (
	ErrOtherSite  = errors.New("the request comes from another site")
	ErrToken      = errors.New("a token is not for the console")
	ErrKey        = errors.New("an API key is not for the console")
	ErrTooOften   = errors.New("too often")
	ErrNoSignIn   = errors.New("no such way to sign in")
	ErrProvider   = errors.New("the OpenID provider refused")
	ErrNoPage     = errors.New("no such page")
	ErrAmount     = errors.New("not an amount")
	ErrCardNumber = errors.New("a card number in clear")
	ErrUnkept     = errors.New("the session was not written after a form")
	ErrNoEvent    = errors.New("not the id of an event")
	ErrNoCursor   = errors.New("no cursor")
	ErrOtherCell  = errors.New("another cell was chosen since")
)

// refusalRow is an error in the words of a page.
type refusalRow struct {
	err    error
	status int
	text   string
}

func refusalRows() []refusalRow {
	return []refusalRow{
		{ErrUnkept, 503, "paylatch could not store your session. Your last command may have been executed: check that before you repeat it."},
		{payment.ErrUnavailable, 503, "The database does not respond. Your last command was not executed, unless a page shows its result. Try again in a moment."},
		{auth.ErrUnavailable, 503, "The sign-in can't be checked at the moment. Try again in a moment."},
		{ErrOtherSite, 403, "Another site sent this request, so it was not executed. Open the page here and try again."},
		{ErrToken, 403, "Tokens are for the API. The console is for people who sign in."},
		{ErrKey, 403, "API keys are for programs. The console is for people who sign in."},
		{ErrTooOften, 429, "You sent too many requests. Wait a moment and try again."},
		{ErrNoSignIn, 404, "This way to sign in does not exist here."},
		{ErrProvider, 401, "The sign-in was not completed at your organisation's provider. Try again."},
		{ErrNoPage, 404, "There is no page at this address."},
		{auth.ErrUnauthenticated, 401, "The sign-in was refused."},
		{payment.ErrForbidden, 403, "Your role does not allow this."},
		{payment.ErrAttemptNotFound, 404, "This payment does not exist."},
		{payment.ErrOrderNotFound, 404, "This order does not exist."},
		{payment.ErrPayoutNotFound, 404, "This payout does not exist."},
		{payment.ErrEventNotFound, 404, "This webhook does not exist."},
		{payment.ErrEventUnreadable, 409, "This version can't read the stored webhook. Compare its payload with the provider's dashboard."},
		{payment.ErrDiscrepancyNotFound, 404, "This case does not exist."},
		{payment.ErrJobNotFound, 404, "This bulk job does not exist."},
		{payment.ErrJobRunning, 409, "A bulk job of this kind is running. Wait until it has ended, or stop it."},
		{ErrOtherCell, 409, "The chosen cell has changed since the dry run. Choose the cell, and count again."},
		{payment.ErrBusy, 409, "Another request is changing this payment. Try again in a moment."},
		{idempotency.ErrInProgress, 409, "The same command is already running. Try again in a moment."},
		{idempotency.ErrFenced, 409, "The same command is already running. Try again in a moment."},
		{idempotency.ErrKeyReused, 409, "This form was already sent with other values. Open the form again."},
		{payment.ErrResolved, 409, "This case was already resolved in another way. That resolution stays."},
		{payment.ErrNotPending, 409, "The payment or refund is no longer pending. Open this case again, and choose one of the resolutions that it offers."},
		{payment.ErrHoldsMoney, 409, "The provider has taken money for this payment, so the case can't be resolved as not paid."},
		{payment.ErrPaymentIDMissing, 422, "Enter the provider's id of the payment or refund."},
		{payment.ErrPaymentTaken, 409, "The payment with this id belongs to another attempt, or the refund with this id is already recorded as another refund."},
		{payment.ErrNotRefundable, 409, "The payment holds no money that could be refunded."},
		{payment.ErrRefundExceeds, 409, "The amount is larger than the refundable amount. Refunds under way reduce the refundable amount."},
		{payment.ErrDisputeOpen, 409, "A dispute of this payment has been opened since you opened the page. Read the dispute before you refund."},
		{payment.ErrPaymentAmbiguous, 409, "Several payments or captures of this attempt hold money. Refund one of them by the API, with its provider_payment_id."},
		{payment.ErrRefundableChanged, 409, "Somebody else has refunded since you opened the page. Read the payment again."},
		{payment.ErrOwnResolution, 409, "Your own resolution opened this case, so another person must close it."},
		{payment.ErrSecondPerson, 409, "You have already proposed this resolution, and a second person must agree to it. A person who signed in by another method may be you, and so does not count as a second person."},
		{refundrequest.ErrNotFound, 404, "This refund request does not exist."},
		{refundrequest.ErrDecided, 409, "This request was already decided. That decision stays."},
		{refundrequest.ErrOwn, 409, "You requested this refund, so another admin must approve it. A person who signed in by another method may be you, and so does not count as another admin."},
		{payment.ErrPaysHeld, 503, "The database was restored, so refunds wait until the account is reconciled with the provider's books. Nothing was refunded; try again later."},
		{ErrCardNumber, 422, "Your text contains a card number, so it was not stored. Go back and remove the number; the last four digits are enough."},
		{endpoint.ErrNotFound, 404, "No endpoint with this name is configured."},
		{ErrNoEvent, 422, "This is not the id of an event."},
		{ErrNoCursor, 422, "Enter a cursor, or choose all stored events."},
		{outbox.ErrCursorInvalid, 422, "Enter a cursor of the feed, such as this endpoint's cursor."},
		{endpoint.ErrAhead, 422, "The endpoint has not reached this cursor yet. Enter an earlier cursor."},
		{outbox.ErrCursorExpired, 410, "Events after this cursor were deleted. Enter a later cursor, or choose all stored events."},
		{ErrAmount, 422, "Enter an amount such as 5 or 5.00."},
	}
}

// RefusalText is an error as a status and a text; the text is empty for a fault of ours.
func RefusalText(err error) (status int, text string) {
	var (
		invalid  *payment.ValidationError
		against  *payment.ResolutionError
		assigned *payment.AssignedError
		quota    *idempotency.QuotaError
		replayed *idempotency.ReplayError
		tooLong  *http.MaxBytesError
		unknown  *endpoint.UnknownError
	)
	switch {
	case err == nil:
		return http.StatusOK, ""
	case errors.As(err, &invalid):
		return http.StatusUnprocessableEntity, sentences(invalid)
	case errors.As(err, &against):
		return http.StatusUnprocessableEntity, against.Reason
	case errors.As(err, &assigned):
		return http.StatusConflict, assignedTo(assigned.Assignee)
	case errors.As(err, &quota):
		return http.StatusTooManyRequests, "You sent too many requests. Wait a minute and try again."
	case errors.As(err, &replayed):
		return http.StatusConflict, string(replayed.Response.Body)
	case errors.As(err, &tooLong):
		return http.StatusRequestEntityTooLarge, "The form is too large. Shorten the text."
	case errors.As(err, &unknown):
		return http.StatusUnprocessableEntity, "The endpoint was not sent this event, or the event is not kept any more."
	}
	for _, row := range refusalRows() {
		if errors.Is(err, row.err) {
			return row.status, row.text
		}
	}
	return http.StatusInternalServerError, ""
}

// assignedTo is the refusal of an action because the discrepancy has another assignee than expected.
func assignedTo(name string) string {
	if name == "" {
		return "This case is no longer assigned, so nothing was changed. Read the case again, then repeat the action."
	}
	return name + " now has this case, so nothing was changed. Read the case again. If you repeat the action, you act instead of " + name + "."
}

func sentences(invalid *payment.ValidationError) string {
	texts := make([]string, len(invalid.Fields))
	for i, f := range invalid.Fields {
		texts[i] = f.Field + ": " + strings.ReplaceAll(f.Message, "`", "") + "."
	}
	return strings.Join(texts, " ")
}

// RefusalReason is the wrapping text of a refused sign-in.
func RefusalReason(err error) string {
	_, why, _ := strings.Cut(err.Error(), ": ")
	return why
}
