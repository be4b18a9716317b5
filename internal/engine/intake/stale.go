package intake

import (
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// A lookup may show a change a moment after the provider has sent the notice of it. A response that
// may be older than its notice is therefore not final: it is looked up again when the notice is of
// these ages. The response for an older notice counts.
var askedAgainAt = [...]time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute} //nolint:gochecknoglobals // a table

// asksAgain is when a notice is looked up again; false once it is so old that no response is behind
// it.
func asksAgain(e *payment.StoredEvent, now time.Time) (at time.Time, early bool) {
	for _, age := range askedAgainAt {
		if at = e.At.Add(age); at.After(now) {
			return at, true
		}
	}
	return at, false
}

// behind reports whether a response is older than a notice with a status of the payment, given the attempt as it was
// before. If the attempt has the status of the notice, nothing is missing, with any response: that is the usual repeat.
func behind(kind webhooks.Kind, a payment.Attempt, answer fsm.Event) bool {
	waits := slices.Contains([]fsm.Event{fsm.EventUnknown, fsm.EventProcessing, fsm.EventActionRequired}, answer)
	ended := answer == fsm.EventFailed || answer == fsm.EventSoftFailed
	switch kind {
	case webhooks.KindSucceeded:
		return !a.Succeeded() && (waits || ended || answer == fsm.EventAuthorized)
	case webhooks.KindAuthorized:
		return a.State != fsm.Authorized && !a.State.Final() && (waits || ended)
	case webhooks.KindFailed, webhooks.KindUndone:
		return !a.State.Final() && (waits || answer == fsm.EventAuthorized)
	case webhooks.KindNotice:
		return !a.State.Final() && waits
	case webhooks.KindProcessing, webhooks.KindActionRequired, webhooks.KindSoftFailed, webhooks.KindIgnored, webhooks.KindQuestion, webhooks.KindUnreadable,
		webhooks.KindDisputed, webhooks.KindDisputeClosed, webhooks.KindReview, webhooks.KindMethodUpdated, webhooks.KindMethodRemoved,
		webhooks.KindReversed, webhooks.KindChargeback, webhooks.KindChargebackReversed,
		webhooks.KindRefundPending, webhooks.KindRefundSucceeded, webhooks.KindRefundFailed:
		// Any response goes beyond the status in such a notice.
	}
	return false
}

// denies reports whether a response that is behind its notice would end a payment that the notice
// reports as paid or held.
func denies(kind webhooks.Kind, answer fsm.Event) bool {
	return (kind == webhooks.KindSucceeded || kind == webhooks.KindAuthorized) && (answer == fsm.EventFailed || answer == fsm.EventSoftFailed)
}

// missing reports whether something must have changed that a response with nothing new does not
// contain: the notice is of moved money, or of nothing in particular. The notice of the attempt's
// last change comes about when that is made.
func missing(e *payment.StoredEvent, a payment.Attempt) bool {
	if payment.EventMovesMoney(e.Event.Kind) {
		return true
	}
	take := a.OpenTake()
	echo := e.At.Sub(a.UpdatedAt) < noticeDelay && a.OpenCancel() == nil && (take == nil || take.Kind == payment.OperationCharge)
	return e.Event.Kind == webhooks.KindNotice && !echo
}

// wait makes another lookup of a notice due. The last lookup does not count as a try: it had a response.
func wait(e *payment.StoredEvent, at time.Time) {
	e.Verdict, e.OrderID, e.AttemptID = payment.VerdictDeferred, "", payment.AttemptID{}
	e.Tries, e.NextTryAt = max(0, e.Tries-1), &at
}

// applyAnswer applies the response about a payment instead of its notice. If the response may be older than the notice,
// the payment is looked up again. A response that would end the payment is then not applied. Any other response is
// applied like a check's.
func applyAnswer(s *changeset.Changeset, c *changeset.Change, e *payment.StoredEvent, f *fetched) {
	kind, answer := e.Event.Kind, f.payment.Event
	stale := behind(kind, c.Attempt, answer)
	at, early := asksAgain(e, s.Now())
	if stale && early && denies(kind, answer) {
		wait(e, at)
		return
	}
	cause := payment.Cause{Kind: payment.CauseWebhook, ID: e.Event.ID}
	if stale && early {
		cause.Kind = payment.CauseCheck
	}
	before, reports := c.Attempt, answered(s, e, f, cause)
	e.Verdict = s.Apply(c, reports[0])
	for _, refund := range reports[1:] {
		if c.Attempt.AmountCaptured() > 0 && s.Apply(c, refund) == fsm.Applied {
			e.Verdict = fsm.Applied
		}
	}
	nothing := (e.Verdict == fsm.Repeat || e.Verdict == fsm.Stale) && c.Attempt.LastMovement == before.LastMovement
	switch {
	case early && (stale || nothing && missing(e, before)):
		wait(e, at)
		return
	case stale && (kind == webhooks.KindSucceeded || kind == webhooks.KindAuthorized):
		s.Find(c, payment.Finding{
			Kind: payment.NeedsReview, About: payment.AboutContradiction, AboutID: string(kind),
			Text: "The provider sent a notice that this payment is paid or its money is held, but all lookups contradict the notice. Look up the payment in the provider's dashboard.",
		})
	}
	c.About(e)
	e.NextTryAt = nil
	if payment.IsRefundEvent(kind) {
		noticeOfRefund(s, c, e)
	}
}

// answered returns the reports of a response, which replaces a notice.
func answered(s *changeset.Changeset, e *payment.StoredEvent, f *fetched, cause payment.Cause) []payment.Report {
	reports := gateway.Reports(f.payment, cause)
	reports[0].References = f.names(e.Event)
	for i := range reports {
		reports[i].BrowserMark = e.Event.BrowserMark || s.Accounts.Get(e.Account).Provider.Capabilities().Identity.BrowserMarks()
	}
	over := e.Event.Kind == webhooks.KindFailed || e.Event.Kind == webhooks.KindUndone
	if over && f.payment.Event == fsm.EventSoftFailed && !hint(e.Event) {
		reports[0].Event = fsm.EventFailed // that it is over is proven, and the lookup leaves it open
	}
	if !hint(e.Event) {
		dateMoney(&reports[0], e.Event)
	}
	return reports
}

// dateMoney gives the money in a response the time of its signed notice, if both agree. A debit that is collected again after its
// reversal has no other time. The report itself has no time, since the response may be younger than the notice.
func dateMoney(r *payment.Report, e webhooks.Event) {
	switch {
	case r.Event == fsm.EventFailed && (e.Kind == webhooks.KindFailed || e.Kind == webhooks.KindUndone):
		r.ReversedAt = e.OccurredAt
	case r.Event == fsm.EventSucceeded && e.Kind == webhooks.KindSucceeded:
		for i := range r.Movements {
			if m := &r.Movements[i]; m.Kind == payment.MovementCapture && m.ID == "" && m.At.IsZero() {
				m.At = e.OccurredAt
			}
		}
	}
}
