package payment

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// doubtFailure marks a failed attempt of which somebody says, or said, that it holds
// money: an old piece of news, or money that nobody will ever take. Only the provider
// knows. One that is being asked about is asked about again.
func doubtFailure(a *Attempt, now time.Time) {
	if a.State != fsm.Failed {
		return
	}
	if a.Intent.Kind == IntentNone || a.Intent.At.IsZero() { // what was given up before was over, see setReleased
		endIntent(a)
		setIntent(a, Intent{Kind: IntentCancel}, now)
	}
	a.NextCheckAt = &now
}

// void asks how a failed attempt stands at the provider and gives up what it still
// holds there, or what failed softly: that may hide a hold, and the answer would not
// change by itself. One that can't be asked is told to give up whatever it holds.
func (s *Service) void(ctx context.Context, p Provider, a Attempt, l Licence) News {
	if p.Capabilities().Blind && a.ProviderPaymentID != "" {
		return s.fulfil(ctx, p, a, l)
	}
	call, cancel := s.calling(ctx, l)
	defer cancel()
	var out Outcome
	var err error
	if a.ProviderPaymentID == "" {
		out, err = p.Find(call, a.ID)
	} else {
		out, err = s.standing(call, p, a)
	}
	switch {
	case err != nil:
		return News{Unasked: errors.Is(err, ErrHeldBack)}
	case out.News != fsm.NewsAuthorized && out.News != fsm.NewsSoftFailed:
		return newsOf(out, Cause{})
	case !p.Capabilities().Cancel:
		return News{News: out.News, Refused: true}
	}
	a.ProviderPaymentID = cmp.Or(a.ProviderPaymentID, out.ProviderPaymentID)
	return s.fulfil(ctx, p, a, l)
}

// voided gives the lease back and decides, by the provider's answer, whether to go on
// asking. A hold reported meanwhile may be younger than that answer.
func (s *Service) voided(b *batch, c *Change, n News, again bool) {
	a, received := &c.Attempt, s.received(c.Attempt, n)
	unasked := n.Unasked && !a.Intent.At.IsZero() // else it was over since, see setReleased
	a.LeaseUntil = nil
	switch {
	case again:
		return
	case n.News == fsm.NewsFailed, n.News == fsm.NewsSucceeded, received:
		a.HoldToldAt = nil
	case n.Refused && n.News != fsm.NewsSoftFailed, s.ended(a.Checks, unasked, b.now().Sub(a.Intent.At)):
		b.unreleased(c)
	default:
		if !n.Unasked {
			a.Checks++
		}
		at := b.now().Add(s.delay(a.Checks))
		a.NextCheckAt = &at
		return
	}
	asked := a.Intent.At
	endIntent(a)
	a.Intent.At, a.NextCheckAt = time.Time{}, nil
	if received { // and its answer is yet to come, see refusedBy
		a.Intent.At = asked
	}
}

// setReleased notes that a failed attempt was over at a time: what was asked to be given up
// before is. A failure that is older, or that does not say how old it is (T-Bank), is no
// answer to that.
func setReleased(a *Attempt, at time.Time) {
	overSince(a, at)
	if !at.Before(a.Intent.At.Truncate(time.Second)) { // some providers give whole seconds
		a.Intent.At = time.Time{}
	}
}

// unreleased asks a person to give up what a failed attempt holds. Until that is settled
// the order takes no other pay.
func (b *batch) unreleased(c *Change) {
	now := b.now()
	c.Attempt.HoldToldAt = &now
	b.open(c, NeedsReview, "Money may be held for this payment although it failed, and the provider did not give it up or could not be asked: look in its dashboard, and void it there.")
	b.latest().About = aboutHold
}

// received reports whether a provider that can't be asked has received the
// cancellation: more it does not say, unless it does not carry it out.
func (s *Service) received(a Attempt, n News) bool {
	p := s.opts.Accounts[a.Account].Provider
	return p != nil && p.Capabilities().Blind && n.News == fsm.NewsProcessing && !n.Refused
}
