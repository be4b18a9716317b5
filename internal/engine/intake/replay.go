package intake

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/tracing"
	"github.com/paylatch/paylatch/webhooks"
)

// Replay is the command that applies a stored event again, or shows the effect of that.
type Replay struct {
	ID  payment.EventID
	Dry bool
	// With runs in the transaction that applies the event, after it; nil for no call. It may run twice, and does not run
	// in a dry run.
	With func(ctx context.Context, tx Tx, r Replayed) error
}

// Replayed is the effect of applying a stored event again.
type Replayed struct {
	Event payment.StoredEvent
	// Verdict is the verdict of this replay. The event keeps its first verdict unless this one is stronger.
	Verdict fsm.Verdict
	// Before and After are the event's attempt; nil if the event names no attempt.
	Before, After *payment.Attempt
	// Opened are the discrepancies that the event causes, with the ones that were open already.
	Opened []payment.DiscrepancyKind
}

// Changed reports whether anything a caller can see of the attempt moved.
func (r Replayed) Changed() bool { return r.After != nil && r.After.Version != r.Before.Version }

// errDry undoes a dry run.
var errDry = errors.New("this was a dry run")

// Replay applies a stored event again, by its content as it was read on arrival: neither its signature nor its bytes
// matter any more. Only the bytes of an unreadable event are read again. It stays unreadable, or is applied as the event
// that it turns out to be. An event that must be fetched is fetched, and stays deferred without a response. An event
// that was applied before is a repeat and changes nothing. A foreign event stays foreign unless an attempt has its name
// by now. It returns ErrEventNotFound, ErrEventUnreadable, and ErrBusy while another transaction has the attempt.
func (in *Inbox) Replay(ctx context.Context, cmd Replay) (Replayed, error) {
	var r Replayed
	since := tracing.Mark(ctx)
	err := in.Store.InEventTx(ctx, func(ctx context.Context, tx Tx) error {
		var err error
		if r.Event, err = tx.EventLock(ctx, cmd.ID); err == nil {
			err = r.Event.Unreadable
		}
		return err
	})
	if err != nil {
		return Replayed{}, err
	}
	r.Event, _ = in.readAgain(r.Event)
	out, _ := in.fetch(ctx, r.Event.ReceivedEvent) // without a response it stays deferred
	err = changeset.Run(ctx, in.Store.InEventTx, in.Rules, func(ctx context.Context, s *changeset.Changeset, tx Tx) error {
		r = Replayed{}
		if err := in.replay(ctx, s, tx, cmd.ID, out, &r); err != nil {
			return err
		}
		if err := s.Save(ctx); err != nil {
			return err
		}
		for _, d := range s.Discrepancies() {
			r.Opened = append(r.Opened, d.Kind)
		}
		return cmd.end(ctx, s, tx, r)
	})
	if errors.Is(err, errDry) {
		err = nil
	}
	if err == nil && !cmd.Dry {
		appliedOf(r.Event).traced(ctx, "webhook replayed", since, tracing.Context{})
	}
	if err == nil && r.Before == nil {
		in.missed.add([]*arrival{{ReceivedEvent: r.Event.ReceivedEvent}}, in.Now())
	}
	return r, err
}

// end is the last step of a replay. It sends the writes first. If they are rejected, a parked event may be the cause. A
// parked event is never the cause of the command's own error.
func (cmd Replay) end(ctx context.Context, s *changeset.Changeset, tx Tx, r Replayed) (err error) {
	if _, err := tx.EventLock(ctx, cmd.ID); err != nil {
		return err
	}
	switch {
	case cmd.Dry:
		err = errDry
	case cmd.With != nil:
		err = cmd.With(ctx, tx, r)
	}
	if err != nil {
		s.Blameless()
	}
	return err
}

func (in *Inbox) replay(ctx context.Context, s *changeset.Changeset, tx Tx, id payment.EventID, out *fetched, r *Replayed) error {
	e, err := tx.EventLock(ctx, id)
	if err != nil {
		return err
	}
	e, reread := in.readAgain(e)
	was := e
	applied := was.AttemptID != payment.AttemptID{}
	if applied {
		// The refused command is over: another command may be under way.
		if e.Event.Refuses == webhooks.CommandCapture {
			e.Event.OccurredAt = time.Time{} // it reported nothing new of a hold
		}
		e.Event.Refuses = ""
	}
	hits, named, err := in.subject(ctx, s, tx, e.ReceivedEvent, out)
	if err != nil {
		return err
	}
	if a := hits.first(named); a != nil {
		before := *a
		r.Before = &before
	}
	switch a := r.Before; {
	case out != nil && a != nil:
		applyFetched(s, s.Change(*a), &e, out)
	case !hits.judge(s, &e):
		return payment.ErrBusy
	case was.Verdict == payment.VerdictForeign && !hits.has(e.Account, names(named.Event)) && (out != nil || !e.Event.NeedsFetch):
		e = was // still no payment of ours
	}
	e.Event = was.Event
	r.Event, r.Verdict = e, e.Verdict
	if r.Before != nil {
		after := s.Change(*r.Before).Attempt
		r.After = &after
	}
	if applied && e.Verdict != fsm.Applied && e.Verdict != fsm.Conflict {
		r.Event = was
		return nil
	}
	if reread {
		if err := tx.EventReread(ctx, e); err != nil {
			return err
		}
	}
	return tx.EventsSettle(ctx, []payment.StoredEvent{e})
}
