package payment

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
)

// Noted is the use cases, with what callers pressed again and providers sent
// again noted for those who have to explain it.
type Noted struct {
	*Service

	Notes *Notes
}

// Pay is Service.Pay.
func (s Noted) Pay(ctx context.Context, actor Actor, req idempotency.Request, cmd Pay) (Reply, error) {
	at := s.Notes.now()
	reply, err := s.Service.Pay(ctx, actor, req, cmd)
	s.replied("pay", at, actor, req, reply, err, Note{OrderID: cmd.OrderID})
	return reply, err
}

// Confirm is Service.Confirm.
func (s Noted) Confirm(ctx context.Context, actor Actor, req idempotency.Request, cmd Confirm) (Reply, error) {
	at := s.Notes.now()
	reply, err := s.Service.Confirm(ctx, actor, req, cmd)
	s.replied("confirm", at, actor, req, reply, err, Note{AttemptID: cmd.AttemptID})
	return reply, err
}

// Cancel is Service.Cancel.
func (s Noted) Cancel(ctx context.Context, actor Actor, req idempotency.Request, id AttemptID) (Reply, error) {
	at := s.Notes.now()
	reply, err := s.Service.Cancel(ctx, actor, req, id)
	s.replied("cancel", at, actor, req, reply, err, Note{AttemptID: id})
	return reply, err
}

// CancelOrder is Service.CancelOrder.
func (s Noted) CancelOrder(ctx context.Context, actor Actor, req idempotency.Request, id OrderID) (Order, idempotency.Result, error) {
	at := s.Notes.now()
	o, result, err := s.Service.CancelOrder(ctx, actor, req, id)
	s.pressed("cancel_order", at, actor, req, result, false, err, Note{OrderID: id})
	return o, result, err
}

// Refund is Service.Refund.
func (s Noted) Refund(ctx context.Context, actor Actor, req idempotency.Request, cmd CreateRefund) (Refunded, error) {
	at := s.Notes.now()
	done, err := s.Service.Refund(ctx, actor, req, cmd)
	s.pressed("refund", at, actor, req, done.Result, false, err, Note{AttemptID: cmd.AttemptID, RefundID: done.ID})
	return done, err
}

// Intake is Service.Intake.
func (s Noted) Intake(ctx context.Context, received []Received) ([]fsm.Verdict, error) {
	verdicts, err := s.Service.Intake(ctx, received)
	for i, v := range verdicts {
		if v == Duplicate {
			note := s.Notes.noted(NoteDuplicate, "webhook", received[i].At)
			note.Account, note.EventID = received[i].Account, storableName(received[i].Event.ID)
			s.Notes.add(note)
		}
	}
	return verdicts, err
}

// replied notes a command on an attempt, as pressed does.
func (s Noted) replied(what string, at time.Time, actor Actor, req idempotency.Request, reply Reply, err error, of Note) {
	if reply.ID != (AttemptID{}) {
		of.OrderID, of.AttemptID = reply.OrderID, reply.ID
	}
	s.pressed(what, at, actor, req, reply.Result, reply.TookOver, err, of)
}

// pressed notes a command, unless it tells nothing: it was a first pay, or was
// refused for what it was and not for what had happened.
func (s Noted) pressed(
	what string, at time.Time, actor Actor, req idempotency.Request, result idempotency.Result, tookOver bool, err error, of Note,
) {
	note := s.Notes.noted(NotePress, what, at)
	note.OrderID, note.AttemptID, note.RefundID = of.OrderID, of.AttemptID, of.RefundID
	note.Actor, note.Key = actor.name(), string(req.Key)
	var inTheWay *InProgressError
	switch {
	case errors.As(err, &inTheWay):
		note.Kind, note.Outcome, note.AttemptID = NoteRefused, "payment_in_progress", inTheWay.Attempt.ID
	case err != nil:
		if note.Kind, note.Outcome = NoteRefused, refusalWord(err); note.Outcome == "" {
			return
		}
	case result == idempotency.Reused && tookOver:
		note.Kind, note.Outcome = NoteReuse, "took_over"
	case result == idempotency.Reused:
		note.Kind = NoteReuse
	case what == "pay":
		return
	}
	s.Notes.add(note)
}

// refusalWord names the refusals that came of what had happened before, and only
// to those whose payment it is.
func refusalWord(err error) string {
	for _, r := range []struct {
		err  error
		word string
	}{
		{ErrOrderPaid, "order_paid"},
		{ErrOrderCancelled, "order_cancelled"},
		{ErrBusy, "busy"},
		{ErrAttemptFinal, "final"},
		{ErrNotCapturable, "not_capturable"},
		{ErrCaptureExceeds, "capture_exceeds"},
		{ErrNotRefundable, "not_refundable"},
		{ErrRefundExceeds, "refund_exceeds"},
		{ErrRefundableChanged, "refundable_changed"},
	} {
		if errors.Is(err, r.err) {
			return r.word
		}
	}
	return ""
}

// name is the actor as role:name, the role being the one it acts by.
func (a Actor) name() string {
	for _, role := range []Role{RoleCustomer, RoleService, RoleAdmin, RoleSupport} {
		if a.Has(role) {
			return string(role) + ":" + a.Subject
		}
	}
	return a.Subject
}
