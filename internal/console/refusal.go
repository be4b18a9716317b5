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
		{ErrUnkept, 503, "Your session could not be written. What was asked for may have been done: look before you ask for it again."},
		{payment.ErrUnavailable, 503, "The database does not answer. Nothing was done that is not shown here; try again in a moment."},
		{auth.ErrUnavailable, 503, "The sign-in can't be checked at the moment. Try again in a moment."},
		{ErrOtherSite, 403, "This was sent by another site and not done. Open the page here and try again."},
		{ErrToken, 403, "Tokens are for the API. The console is for people who sign in."},
		{ErrKey, 403, "API keys are for programs. The console is for people who sign in."},
		{ErrTooOften, 429, "That was too often. Wait a moment and try again."},
		{ErrNoSignIn, 404, "There is no such way to sign in here."},
		{ErrProvider, 401, "The sign-in was not completed at your organisation's provider. Try again."},
		{ErrNoPage, 404, "There is no page at this address."},
		{auth.ErrUnauthenticated, 401, "The sign-in was refused."},
		{payment.ErrForbidden, 403, "Your role does not allow this."},
		{payment.ErrAttemptNotFound, 404, "There is no such payment."},
		{payment.ErrOrderNotFound, 404, "There is no such order."},
		{payment.ErrPayoutNotFound, 404, "There is no such payout."},
		{payment.ErrEventNotFound, 404, "There is no such webhook."},
		{payment.ErrEventUnreadable, 409, "This version can't read what is stored of the webhook. Compare its bytes with the provider's dashboard."},
		{payment.ErrDiscrepancyNotFound, 404, "There is no such entry in the worklist."},
		{payment.ErrJobNotFound, 404, "There is no such page of what was done to many."},
		{payment.ErrJobRunning, 409, "The same is being done to others. Wait until that has ended, or stop it."},
		{ErrOtherCell, 409, "Another cell was chosen since this was counted. Choose the cell, and count again."},
		{payment.ErrBusy, 409, "Another request works on this. Try again in a moment."},
		{idempotency.ErrInProgress, 409, "The same is under way already. Try again in a moment."},
		{idempotency.ErrFenced, 409, "The same is under way already. Try again in a moment."},
		{idempotency.ErrKeyReused, 409, "This form was sent before with other values. Open it anew."},
		{payment.ErrResolved, 409, "Somebody has resolved this before in another way. What was decided stays."},
		{payment.ErrNotPending, 409, "The payment, or the refund, is not pending any more. Resolve this as refunded elsewhere or as accepted."},
		{payment.ErrHoldsMoney, 409, "The provider holds money for this payment, so it can't be called not paid."},
		{payment.ErrPaymentIDMissing, 422, "Enter the provider's id of the payment, or of the refund."},
		{payment.ErrPaymentTaken, 409, "The provider's payment of this id belongs to another attempt, or it is another refund."},
		{payment.ErrNotRefundable, 409, "The payment holds no money that could be refunded."},
		{payment.ErrRefundExceeds, 409, "That is more than is left to refund, refunds under way included."},
		{payment.ErrDisputeOpen, 409, "A dispute of this payment was opened meanwhile. Look at it before you refund."},
		{payment.ErrPaymentAmbiguous, 409, "Several payments of this attempt hold money. Refund one of them by the API, which takes its id."},
		{payment.ErrRefundableChanged, 409, "Somebody else has refunded meanwhile. Look at the payment again."},
		{payment.ErrOwnResolution, 409, "Your own resolution opened this, so another person has to close it."},
		{payment.ErrSecondPerson, 409, "You proposed this before. One person is not enough for it, so a second person has to agree. Somebody who signed in another way may be you, too."},
		{refundrequest.ErrNotFound, 404, "There is no such request for a refund."},
		{refundrequest.ErrDecided, 409, "This request was decided before. What was decided stays."},
		{refundrequest.ErrOwn, 409, "You asked for this refund, so another admin has to approve it. Somebody who signed in another way may be you, too."},
		{payment.ErrPaysHeld, 503, "The database was restored, so refunds wait until the provider's books were compared. Nothing was done; try again later."},
		{ErrCardNumber, 422, "What you entered holds a card number. It was not stored; go back and leave it out, the last four digits are enough."},
		{endpoint.ErrNotFound, 404, "No endpoint of this name is configured."},
		{ErrNoEvent, 422, "This is not the id of an event."},
		{ErrNoCursor, 422, "Enter a cursor, or choose all that are kept."},
		{outbox.ErrCursorInvalid, 422, "Enter a cursor of the feed, such as the one of this endpoint."},
		{endpoint.ErrAhead, 422, "The endpoint has not come to this cursor yet. Enter an earlier one."},
		{outbox.ErrCursorExpired, 410, "Events behind this cursor are not kept any more. Choose a later one, or all that are kept."},
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
		return http.StatusTooManyRequests, "That was too often. Wait a minute and try again."
	case errors.As(err, &replayed):
		return http.StatusConflict, string(replayed.Response.Body)
	case errors.As(err, &tooLong):
		return http.StatusRequestEntityTooLarge, "That was too long."
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
		return "Nobody has this any more, so nothing was done. Look at it as it is now, and send it again."
	}
	return name + " has this now, so nothing was done. Look at it as it is now: if you send this again, that is in the place of " + name + "."
}

func sentences(invalid *payment.ValidationError) string {
	texts := make([]string, len(invalid.Fields))
	for i, f := range invalid.Fields {
		texts[i] = f.Field + ": " + f.Message + "."
	}
	return strings.Join(texts, " ")
}

// RefusalReason is the wrapping text of a refused sign-in.
func RefusalReason(err error) string {
	_, why, _ := strings.Cut(err.Error(), ": ")
	return why
}
