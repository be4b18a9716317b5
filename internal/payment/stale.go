package payment

import (
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

// A provider may show a change a moment after it has sent the notice of it. An answer
// that may be older than its notice is therefore not the last word: the provider is asked
// again when the notice is of these ages. An answer to an older one is believed.
var askedAgainAt = [...]time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute} //nolint:gochecknoglobals // a table

// asksAgain is when the provider of a notice is asked again; false once the notice is so
// old that no answer is behind it.
func (e *StoredEvent) asksAgain(now time.Time) (at time.Time, early bool) {
	for _, age := range askedAgainAt {
		if at = e.At.Add(age); at.After(now) {
			return at, true
		}
	}
	return at, false
}

// behind reports whether an answer about an attempt, as it was before, is older than a
// notice that says itself how the payment stands. Of an attempt that is as the notice says
// nothing is missing, whatever the answer: that is the usual repeat.
func behind(kind webhooks.Kind, a Attempt, answer fsm.News) bool {
	waits := slices.Contains([]fsm.News{fsm.NewsUnknown, fsm.NewsProcessing, fsm.NewsActionRequired}, answer)
	ended := answer == fsm.NewsFailed || answer == fsm.NewsSoftFailed
	switch kind {
	case webhooks.KindSucceeded:
		return !a.Succeeded() && (waits || ended || answer == fsm.NewsAuthorized)
	case webhooks.KindAuthorized:
		return a.State != fsm.Authorized && !a.State.Final() && (waits || ended)
	case webhooks.KindFailed:
		return !a.State.Final() && (waits || answer == fsm.NewsAuthorized)
	case webhooks.KindNotice:
		return !a.State.Final() && waits
	case webhooks.KindProcessing, webhooks.KindActionRequired, webhooks.KindSoftFailed, webhooks.KindIgnored, webhooks.KindQuestion, webhooks.KindDisputed,
		webhooks.KindReversed, webhooks.KindChargeback, webhooks.KindChargebackReversed,
		webhooks.KindRefundPending, webhooks.KindRefundSucceeded, webhooks.KindRefundFailed:
		// Any answer goes beyond what it says of how the payment stands.
	}
	return false
}

// denies reports whether an answer that is behind its notice would end a payment whose
// money the notice speaks of.
func denies(kind webhooks.Kind, answer fsm.News) bool {
	return (kind == webhooks.KindSucceeded || kind == webhooks.KindAuthorized) && (answer == fsm.NewsFailed || answer == fsm.NewsSoftFailed)
}

// missing reports whether something must have changed of which an answer that was new in
// nothing tells nothing: money that the notice says was moved, or what it does not say.
// The notice of the attempt's last change comes about when that is made.
func missing(e *StoredEvent, a Attempt) bool {
	if _, moves := movementByKind[e.Event.Kind]; moves {
		return true
	}
	echo := e.At.Sub(a.UpdatedAt) < noticeDelay && a.Intent.Kind == IntentNone
	return e.Event.Kind == webhooks.KindNotice && !echo
}

// wait has the provider of a notice asked again. That it was asked is no try: it answered.
func (e *StoredEvent) wait(at time.Time) {
	e.Verdict, e.OrderID, e.AttemptID = Deferred, "", AttemptID{}
	e.Tries, e.NextTryAt = max(0, e.Tries-1), &at
}

// applyAnswer applies what the provider says of a payment in the place of its notice, or
// has it asked again where that may be behind the notice: an answer that would end the
// payment is not applied then, and any other is what a check has found.
func (b *batch) applyAnswer(c *Change, e *StoredEvent, f *fetched) {
	kind, answer := e.Event.Kind, f.payment.News
	stale := behind(kind, c.Attempt, answer)
	at, early := e.asksAgain(b.now())
	if stale && early && denies(kind, answer) {
		e.wait(at)
		return
	}
	cause := Cause{Kind: CauseWebhook, ID: e.Event.ID}
	if stale && early {
		cause = Cause{Kind: CauseCheck, ID: e.Event.ID}
	}
	before := c.Attempt
	news := newsOf(f.payment, cause)
	news.Names = f.names(e.Event)
	e.Verdict = b.advance(c, news)
	nothing := (e.Verdict == fsm.Repeat || e.Verdict == fsm.Stale) && c.Attempt.LastMovement == before.LastMovement
	switch {
	case early && (stale || nothing && missing(e, before)):
		e.wait(at)
		return
	case stale && (kind == webhooks.KindSucceeded || kind == webhooks.KindAuthorized):
		b.open(c, NeedsReview, "The provider sent a notice that this payment was paid or its money is held, and has said otherwise for as long as it was asked about it. Look the payment up in its dashboard.")
		b.latest().About = "notice " + string(kind)
	}
	e.OrderID, e.AttemptID, e.NextTryAt = c.Attempt.OrderID, c.Attempt.ID, nil
	if _, ok := newsByRefundKind[kind]; ok {
		b.heardOfRefund(c, e)
	}
}
