package runner

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
)

// Task is an operation that was taken, with its attempt at that time.
type Task struct {
	Attempt   payment.Attempt
	Operation payment.Operation
	Decision  payment.Decision
	// Refund is the refund of a refund operation; nil for other operations.
	Refund *payment.Refund
	// Request is the data of the operation's own request; empty where it must be unsealed, and for an operation without
	// data.
	Request string
	// was is the operation before the take.
	was   payment.Operation
	taken bool
}

// TaskOf is an operation that a command's first transaction has begun.
func TaskOf(a payment.Attempt, o payment.Operation, d payment.Decision, request string) Task {
	return Task{Attempt: a, Operation: o, Decision: d, Request: request, was: o, taken: true}
}

// take gives an operation to this runner, as far as the permit allows.
func (r *Runner) take(ctx context.Context, name payment.OperationName, request string) (t Task, err error) {
	err = r.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		s := changeset.New(tx, r.Rules)
		a, order, err := tx.AttemptLock(ctx, name.AttemptID)
		if err != nil {
			return err
		}
		t = Task{Attempt: a, Request: request}
		if known := a.Operation(name.Kind, name.Number); known == nil || !known.Open() {
			return nil
		}
		c := s.Change(a)
		o := c.Attempt.Operation(name.Kind, name.Number)
		if o.Leased(tx.Now()) {
			return payment.ErrBusy
		}
		t.was = *o
		if err := r.loadFor(ctx, s, tx, &t, o); err != nil {
			return err
		}
		t.Decision = r.permit(s, &c.Attempt, order, o, t.Refund)
		if _, ok := r.Account(a); !ok && t.Decision == payment.Send {
			t.Decision = payment.Ask // the account is not configured any more, or has another merchant
		}
		t.taken = r.decided(s, c, name, order, t.Decision)
		if err := s.Save(ctx); err != nil {
			return err
		}
		t.Attempt = c.Attempt
		t.Operation = *c.Attempt.Operation(name.Kind, name.Number)
		return nil
	})
	if err == nil && t.Decision == payment.Wait {
		err = payment.ErrBusy
	}
	return t, err
}

// loadFor reads the data for the permit of an operation: its refund, or the data for a resend. The charge's own request
// may have brought the latter again.
func (r *Runner) loadFor(ctx context.Context, s *changeset.Changeset, tx Tx, t *Task, o *payment.Operation) (err error) {
	if o.RefundID != (payment.RefundID{}) {
		if err = s.LoadRefunds(ctx, o.AttemptID); err != nil {
			return err
		}
		t.Refund = s.Refund(o.AttemptID, o.RefundID)
	}
	if o.Kind != payment.OperationCharge {
		t.Request = "" // the data that came again belongs to the pay
	}
	t.Request, err = r.LoadRequest(ctx, tx, o, t.Request)
	return err
}

// LoadRequest reads the kept data of an operation. It returns the data that came again if it is to be sent instead: the
// kept data has priority, because it contains the order's details, and a resend must have the same bytes.
func (r *Runner) LoadRequest(ctx context.Context, tx Tx, o *payment.Operation, again string) (request string, err error) {
	if !o.Carries() {
		return again, nil
	}
	if o.SealedRequest, err = tx.SealedRequest(ctx, o.Name()); err != nil {
		return "", err
	}
	switch {
	case len(o.SealedRequest) == 0:
		o.SealedRequest = []byte(again)
	case r.Open != nil:
		return "", nil
	}
	return again, nil
}

// permit decides about an operation of an attempt, or of its refund.
func (r *Runner) permit(s *changeset.Changeset, a *payment.Attempt, order payment.Order, o *payment.Operation, of *payment.Refund) payment.Decision {
	if o.Kind == payment.OperationRefund || o.RefundID != (payment.RefundID{}) {
		return payment.PermitRefund(o, a, s.Refunds(a.ID), r.capabilities(*a), of, s.Now())
	}
	return a.Permit(o, order, r.capabilities(*a), s.Now())
}

// unreachable reports whether the payment to be cancelled is external and ends without a cancel.
func (r *Runner) unreachable(a payment.Attempt, kind payment.OperationKind) bool {
	return kind == payment.OperationCancel && a.Origin == payment.OriginExternal && !a.State.Final() && !r.EndsByCancel(a)
}

// decided writes a decision. It reports whether the runner goes on.
func (r *Runner) decided(s *changeset.Changeset, c *changeset.Change, name payment.OperationName, order payment.Order, d payment.Decision) bool {
	now := s.Now()
	if sends := d == payment.Send || d == payment.Ask; sends && r.unreachable(c.Attempt, name.Kind) {
		s.Abandon(c, payment.OperationOriginPolicy, payment.NewFailure("canceled", ""), payment.Cause{Kind: payment.CauseCheck, ID: "withdrawn"})
		return false
	}
	op := func() *payment.Operation { return c.Attempt.Operation(name.Kind, name.Number) }
	switch d {
	case payment.Close:
		switch o := op(); {
		case name.Kind == payment.OperationCancel && c.Attempt.Succeeded():
			o.Refuse("paid")
		case name.Kind == payment.OperationCapture && c.Attempt.Capture == payment.CaptureSeveral && c.Attempt.Succeeded() && !c.Attempt.Effected(o):
			s.HoldEnded(c, o)
		default:
			o.Finish("")
		}
		return false
	case payment.Withdraw:
		op().Withdraw()
		switch name.Kind {
		case payment.OperationCharge:
			s.Apply(c, canceled())
		case payment.OperationRefund:
			s.WithdrawRefund(c, op().RefundID)
		case payment.OperationComplete, payment.OperationCapture, payment.OperationCancel, payment.OperationCheck:
		}
		return false
	case payment.Wait:
		op().NextAt = waitUntil(&c.Attempt, name, now)
		return false
	case payment.Send, payment.Ask:
	}
	if err := order.Withheld(name.AttemptID); err != nil && op().RefundID == (payment.RefundID{}) && !c.Attempt.State.Final() {
		s.EnsureCancel(c, withheldBy(err))
	}
	end := now.Add(r.Schedule.Lease)
	op().Take(d, now, end)
	op().NextAt = &end
	return true
}

// waitUntil is when an operation that waits for another one is looked at again.
func waitUntil(a *payment.Attempt, name payment.OperationName, now time.Time) *time.Time {
	at := now.Add(time.Second)
	if other := a.LeasedOperation(now); other != nil {
		at = *other.LeaseUntil
	} else if cancel := a.OpenCancel(); cancel != nil && cancel.Name() != name && cancel.NextAt.After(at) {
		at = cancel.NextAt.Add(time.Second)
	}
	return &at
}

// canceled is the report of a charge that was withdrawn before it was sent.
func canceled() payment.Report {
	return payment.Report{
		OfAttempt: true, Event: "failed", Failure: payment.NewFailure("canceled", ""), Releases: payment.HoldsAll,
		Cause: payment.Cause{Kind: payment.CauseCheck, ID: "withdrawn"},
	}
}
