package activity

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
)

// Commands records the commands that were repeated, or refused because of earlier ones.
type Commands struct {
	*commands.Commands

	Notes *Notes
}

// Pay is commands.Commands.Pay.
func (s Commands) Pay(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.Pay) (commands.Reply, error) {
	at := s.Notes.now()
	reply, err := s.Commands.Pay(ctx, actor, req, cmd)
	s.recordReply("pay", at, actor, req, reply, err, Note{OrderID: cmd.OrderID})
	return reply, err
}

// Complete is commands.Commands.Complete.
func (s Commands) Complete(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.Complete) (commands.Reply, error) {
	at := s.Notes.now()
	reply, err := s.Commands.Complete(ctx, actor, req, cmd)
	s.recordReply("complete", at, actor, req, reply, err, Note{AttemptID: cmd.AttemptID})
	return reply, err
}

// Confirm is commands.Commands.Confirm.
func (s Commands) Confirm(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.Confirm) (commands.Reply, error) {
	at := s.Notes.now()
	reply, err := s.Commands.Confirm(ctx, actor, req, cmd)
	s.recordReply("confirm", at, actor, req, reply, err, Note{AttemptID: cmd.AttemptID})
	return reply, err
}

// Cancel is commands.Commands.Cancel.
func (s Commands) Cancel(ctx context.Context, actor authz.Actor, req idempotency.Request, id payment.AttemptID) (commands.Reply, error) {
	at := s.Notes.now()
	reply, err := s.Commands.Cancel(ctx, actor, req, id)
	s.recordReply("cancel", at, actor, req, reply, err, Note{AttemptID: id})
	return reply, err
}

// CancelOrder is commands.Commands.CancelOrder.
func (s Commands) CancelOrder(ctx context.Context, actor authz.Actor, req idempotency.Request, id payment.OrderID) (payment.Order, idempotency.Result, error) {
	at := s.Notes.now()
	o, result, err := s.Commands.CancelOrder(ctx, actor, req, id)
	s.recordCommand("cancel_order", at, actor, req, result, false, err, Note{OrderID: id})
	return o, result, err
}

// AmendOrder is commands.Commands.AmendOrder. The amendment itself writes its entry.
func (s Commands) AmendOrder(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.AmendOrder) (commands.AmendedOrder, error) {
	at := s.Notes.now()
	amended, err := s.Commands.AmendOrder(ctx, actor, req, cmd)
	if err != nil || amended.Result == idempotency.Reused {
		s.recordCommand(commands.AmendName, at, actor, req, amended.Result, false, err, Note{OrderID: cmd.OrderID})
	}
	return amended, err
}

// Refund is commands.Commands.Refund.
func (s Commands) Refund(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.CreateRefund) (commands.RefundReply, error) {
	at := s.Notes.now()
	done, err := s.Commands.Refund(ctx, actor, req, cmd)
	s.recordCommand("refund", at, actor, req, done.Result, false, err, Note{AttemptID: cmd.AttemptID, RefundID: done.ID})
	return done, err
}

// Inbox records duplicate webhooks.
type Inbox struct {
	*intake.Inbox

	Notes *Notes
}

// Intake is intake.Inbox.Intake.
func (s Inbox) Intake(ctx context.Context, received []payment.ReceivedEvent) ([]fsm.Verdict, error) {
	verdicts, err := s.Inbox.Intake(ctx, received)
	for i, v := range verdicts {
		if v == payment.VerdictDuplicate {
			note := s.Notes.noted(NoteDuplicate, "webhook", received[i].At)
			note.Account, note.EventID = received[i].Account, payment.StorableName(received[i].Event.ID)
			s.Notes.add(note)
		}
	}
	return verdicts, err
}

// recordReply notes a command on an attempt, as pressed does.
func (s Commands) recordReply(what string, at time.Time, actor authz.Actor, req idempotency.Request, reply commands.Reply, err error, of Note) {
	if reply.ID != (payment.AttemptID{}) {
		of.OrderID, of.AttemptID = reply.OrderID, reply.ID
	}
	s.recordCommand(what, at, actor, req, reply.Result, reply.TookOver, err, of)
}

// recordCommand notes a command, except a first pay, and a command that was refused for its own content.
func (s Commands) recordCommand(
	what string, at time.Time, actor authz.Actor, req idempotency.Request, result idempotency.Result, tookOver bool, err error, of Note,
) {
	note := s.Notes.noted(NoteCommand, what, at)
	note.OrderID, note.AttemptID, note.RefundID = of.OrderID, of.AttemptID, of.RefundID
	note.Actor, note.Key = actor.Name(), string(req.Key)
	var inTheWay *payment.InProgressError
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

// refusalWord names a refusal that depends on earlier events of the caller's own
// payment; it returns "" for others.
func refusalWord(err error) string {
	for _, r := range []struct {
		err  error
		word string
	}{
		{payment.ErrOrderPaid, "order_paid"},
		{payment.ErrOrderCancelled, "order_cancelled"},
		{payment.ErrOrderChanged, "order_changed"},
		{payment.ErrBusy, "busy"},
		{payment.ErrAttemptFinal, "final"},
		{payment.ErrNotCapturable, "not_capturable"},
		{payment.ErrNotCompletable, "not_completable"},
		{payment.ErrCaptureExceeds, "capture_exceeds"},
		{payment.ErrNotRefundable, "not_refundable"},
		{payment.ErrRefundExceeds, "refund_exceeds"},
		{payment.ErrRefundableChanged, "refundable_changed"},
	} {
		if errors.Is(err, r.err) {
			return r.word
		}
	}
	return ""
}
