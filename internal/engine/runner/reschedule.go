package runner

import (
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// reschedule sets the next due time of an operation, and applies the consequences of its age.
func (r *Runner) reschedule(s *changeset.Changeset, c *changeset.Change, rec *recording) {
	op, res, now := operationOf(c, rec.task), rec.result, s.Now()
	first := op.Fence == 1 && op.Origin == payment.OperationOriginRequest && res.Outcome != gateway.CallAsked
	if op.Open() && res.Outcome != gateway.CallThrottled && !first {
		op.Tries++
	}
	if op.Open() && op.RefundID == (payment.RefundID{}) && looksUp(op.Kind) {
		r.followUp(s, c, rec)
	}
	if op = operationOf(c, rec.task); op.Open() {
		switch {
		case sooner(op, rec.task):
			op.Wait(now)
		case first && op.State == fsm.OperationAccepted && op.NextAt.After(now):
			op.LeaseUntil = nil // the first check is due when it was to be
		default:
			op.Wait(r.Schedule.Next(op, c.Attempt.Began(op), now))
		}
		if waits := c.Attempt.ExpiresAt != nil && now.Before(*c.Attempt.ExpiresAt); waits && looksUp(op.Kind) {
			s.Until(c, op)
		} else {
			r.giveUp(s, c, rec)
		}
	}
	if cancel := c.Attempt.OpenCancel(); cancel != nil && cancel.Name() != rec.task.Operation.Name() && !cancel.Leased(now) && cancel.Sends == 0 && cancel.Tries == 0 {
		cancel.Sooner(now)
	}
}

// sooner reports whether something was reported since the operation was taken that makes
// it due again at once.
func sooner(op *payment.Operation, t Task) bool {
	return op.NextAt != nil && t.Operation.NextAt != nil && op.NextAt.Before(t.Operation.NextAt.Truncate(time.Microsecond))
}

// followUp completes a payment that its customer has approved, and cancels a payment that has outlived its stage. An
// external payment that has outlived its stage is left to a person.
func (r *Runner) followUp(s *changeset.Changeset, c *changeset.Change, rec *recording) {
	a, op, now := &c.Attempt, operationOf(c, rec.task), s.Now()
	if a.State.Final() || a.OpenCancel() != nil {
		return
	}
	if a.Expired(now) && r.expire(s, c, rec) {
		return
	}
	account := r.AccountOf(*a)
	if a.Origin == payment.OriginExternal {
		outlived := func(report payment.Report) bool { return account.Lives.Outlived(*a, report.Event, now) }
		if slices.ContainsFunc(rec.result.Reports, outlived) {
			notEnded(s, c)
		}
		return
	}
	for _, report := range rec.result.Reports {
		if report.Approved && a.TakesApproval(now) {
			op.Finish("approved")
			c.Add(a.NewOperation(payment.OperationComplete, payment.OperationOriginPolicy, now))
			return
		}
	}
	last := len(rec.result.Reports) - 1
	if last < 0 || account.Provider == nil || rec.result.Reports[last].Cause.Kind == payment.CauseCall || !account.Lives.Outlived(*a, rec.result.Event(), now) {
		return
	}
	refused := a.CancelWanted()
	if r.givenUp(op, rec.result, now) && (refused || account.Provider.Capabilities().Cancels == payment.CancelsNone) {
		notCancelled(s, c)
	}
	if account.Provider.Capabilities().Cancels > payment.CancelsNone {
		s.EnsureCancel(c, payment.OperationOriginExpiry)
		if a.Failure == nil {
			a.Failure = payment.NewFailure("expired", "")
		}
	}
}

// expire ends an external payment that has expired. If its account is reachable and the provider has lookups,
// the payment must have been looked up.
func (r *Runner) expire(s *changeset.Changeset, c *changeset.Change, rec *recording) bool {
	can := r.capabilities(c.Attempt)
	looked := len(rec.result.Reports) > 0 || can.Blind()
	if r.Reachable(c.Attempt) && (!looked || can.Cancels == payment.CancelsNone) {
		return false
	}
	s.Abandon(c, payment.OperationOriginExpiry, payment.NewFailure("expired", ""), payment.Cause{Kind: payment.CauseCheck, ID: "expired"})
	return true
}

func notCancelled(s *changeset.Changeset, c *changeset.Change) {
	s.Find(c, payment.Finding{
		Kind: payment.NeedsReview, About: payment.AboutNotCancelled,
		Text: "This payment should have ended long ago, and the provider does not cancel it. Look it up in the provider's dashboard, then resolve this case as paid or not paid.",
	})
}

// notEnded opens the discrepancy of an external payment that is still under way or on hold: we end only what we began.
func notEnded(s *changeset.Changeset, c *changeset.Change) {
	s.Find(c, payment.Finding{
		Kind: payment.NeedsReview, About: payment.AboutNotCancelled,
		Text: "This payment should have been over long ago, and paylatch does not cancel it, because it began elsewhere. Look it up in the " +
			"provider's dashboard, and capture or cancel it there.",
	})
}

// givenUp reports whether an operation is past the give-up threshold.
func (r *Runner) givenUp(op *payment.Operation, res gateway.CallResult, now time.Time) bool {
	return r.Schedule.GivenUp(op.Tries, res.Outcome == gateway.CallThrottled, now.Sub(op.CreatedAt))
}

// giveUp opens a discrepancy, once, for an operation past the give-up threshold: it is not expected to move on by
// itself. Its daily lookups go on.
func (r *Runner) giveUp(s *changeset.Changeset, c *changeset.Change, rec *recording) {
	op, now := operationOf(c, rec.task), s.Now()
	if op.Payment != "" {
		if r.givenUp(op, rec.result, now) {
			secondRefused(s, c, op)
		}
		return
	}
	if op.RefundID != (payment.RefundID{}) {
		r.giveUpRefund(s, c, rec)
		return
	}
	if !r.givenUp(op, rec.result, now) {
		return
	}
	a := &c.Attempt
	switch {
	case a.Succeeded() && !looksUp(op.Kind):
		s.Find(c, payment.Finding{
			Kind: payment.NeedsReview, About: payment.AboutCaptureNotMade, AboutID: op.Key(),
			Text: "The order is paid, and it is unknown whether a further " + string(op.Kind) + " of its hold was executed. Check in the provider's dashboard which amounts are captured and on hold.",
		})
	case op.Kind == payment.OperationCancel && a.Failed():
		op.Refuse("not_released")
		s.Unreleased(c)
	case op.Kind == payment.OperationCancel && rec.result.Event() == fsm.EventSoftFailed:
		notCancelled(s, c)
	case !looksUp(op.Kind), a.State == fsm.OutcomeUnknown, r.silent(*a, rec.result, now):
		s.Find(c, payment.Finding{
			Kind: payment.NeedsReview, About: payment.AboutUnknownOutcome,
			Text: "The outcome of this payment is unknown. Ask the provider's support, then resolve this case as paid or not paid.",
		})
	}
}

// silent reports whether nothing could be found out about an attempt for longer than any
// life.
func (r *Runner) silent(a payment.Attempt, res gateway.CallResult, now time.Time) bool {
	lives, says := r.Accounts.Get(a.Account).Lives, res.Event()
	return (says == "" || says == fsm.EventUnknown) && lives.Outlived(a, fsm.EventProcessing, now) &&
		(a.State != fsm.Authorized || lives.Outlived(a, fsm.EventAuthorized, now))
}

// giveUpRefund is giveUp for a refund. A refund that the provider has accepted is never given up. A refund without a
// name takes the only movement that fits.
func (r *Runner) giveUpRefund(s *changeset.Changeset, c *changeset.Change, rec *recording) {
	op, now := operationOf(c, rec.task), s.Now()
	open := s.Refund(c.Attempt.ID, op.RefundID)
	if open == nil {
		return
	}
	processing := false
	for _, report := range rec.result.Reports {
		processing = processing || report.Refund != nil && report.Refund.Event == fsm.EventProcessing && !report.Refund.Unnamed
	}
	f := payment.Finding{Kind: payment.NeedsReview, About: payment.AboutRefundUnknown, AboutID: open.ID.String(), Money: &open.Money}
	switch {
	case processing:
		op.Tries = min(op.Tries, payment.LastTry) // a later try without a response is no matter
		if now.Sub(open.CreatedAt) <= r.Accounts.Get(c.Attempt.Account).Lives.SlowLife() {
			return
		}
		f.About, f.Text = payment.AboutRefundSlow, "The provider has been processing a refund for a long time. Ask its support for the reason."
	case !r.givenUp(op, rec.result, now):
		return
	case r.attribute(s, c, op, open):
		return
	default:
		f.Text = "The outcome of a refund is unknown. Look up the refund in the provider's dashboard, then resolve this case as paid or not paid."
	}
	s.Find(c, f)
}

// attribute infers the movement of a refund without a name: the only unclaimed movement of its amount since it was sent,
// if no other refund lacks a name.
func (r *Runner) attribute(s *changeset.Changeset, c *changeset.Change, op *payment.Operation, nameless *payment.Refund) bool {
	var all []*payment.Refund
	for _, other := range s.Refunds(c.Attempt.ID) {
		if other.ID != nameless.ID && other.Nameless() {
			return false
		}
		all = append(all, &other)
	}
	var fits []payment.Movement
	for _, m := range payment.UnclaimedRefunds(&c.Attempt, all) {
		if m.Money == nameless.Money && op.FirstSentAt != nil && !m.RecordedAt.Before(*op.FirstSentAt) {
			fits = append(fits, m)
		}
	}
	if len(fits) != 1 || !nameless.Nameless() {
		return false
	}
	s.AdvanceRefund(c, nameless, payment.RefundReport{ProviderID: fits[0].ProviderID, Event: fsm.EventSucceeded, Money: &nameless.Money},
		payment.Cause{Kind: payment.CauseCheck, ID: "refund_is"})
	return true
}
