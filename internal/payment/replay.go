package payment

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
)

// Replay is the command: apply a stored event again, or say what that would do.
type Replay struct {
	ID  EventID
	Dry bool
	// With runs in the transaction that applies the event, after it; nil for
	// nothing. It may run twice, and not at all in a dry run.
	With func(ctx context.Context, tx Tx, r Replayed) error
}

// Replayed is what applying a stored event again did, or would do.
type Replayed struct {
	Event StoredEvent
	// Verdict is that of this time. The event keeps its first one unless this one
	// says more.
	Verdict fsm.Verdict
	// Before and After are the attempt that it is about; nil if it names none.
	Before, After *Attempt
	// Opened are the discrepancies that it shows, those that were open included.
	Opened []DiscrepancyKind
}

// Changed reports whether anything a caller can see of the attempt moved.
func (r Replayed) Changed() bool { return r.After != nil && r.After.Version != r.Before.Version }

// errDry undoes a dry run.
var errDry = errors.New("this was a dry run")

// Replay applies a stored event again, by what was read from it when it came:
// neither its signature nor its bytes matter any more. An event that must be
// fetched is, and stays deferred if the provider can't be asked. What was applied
// before is a repeat and changes nothing. It returns ErrEventNotFound,
// ErrEventUnreadable, and ErrBusy while another transaction has the attempt.
func (s *Service) Replay(ctx context.Context, cmd Replay) (Replayed, error) {
	var r Replayed
	err := s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		var err error
		if r.Event, err = tx.EventLock(ctx, cmd.ID); err == nil {
			err = r.Event.Unreadable
		}
		return err
	})
	if err != nil {
		return Replayed{}, err
	}
	out, _ := s.fetch(ctx, r.Event.Received) // without an answer it stays deferred
	err = s.inBatch(ctx, func(ctx context.Context, b *batch) error {
		r = Replayed{}
		if err := s.replay(ctx, b, cmd.ID, out, &r); err != nil {
			return err
		}
		if err := b.save(ctx); err != nil {
			return err
		}
		for _, d := range b.discrepancies {
			r.Opened = append(r.Opened, d.Kind)
		}
		return cmd.end(ctx, b, r)
	})
	if errors.Is(err, errDry) {
		err = nil
	}
	if err == nil && r.Before == nil {
		s.missed.add([]*arrival{{Received: r.Event.Received}}, s.now())
	}
	return r, err
}

// end is what a replay does last. What was written is sent first: if it is refused, a
// parked event may be to blame, and none is for what the command itself returns.
func (cmd Replay) end(ctx context.Context, b *batch, r Replayed) (err error) {
	if _, err := b.tx.EventLock(ctx, cmd.ID); err != nil {
		return err
	}
	switch {
	case cmd.Dry:
		err = errDry
	case cmd.With != nil:
		err = cmd.With(ctx, b.tx, r)
	}
	b.unparked = b.unparked && err == nil
	return err
}

func (s *Service) replay(ctx context.Context, b *batch, id EventID, out *fetched, r *Replayed) error {
	e, err := b.tx.EventLock(ctx, id)
	if err != nil {
		return err
	}
	was := e
	if was.AttemptID != (AttemptID{}) {
		// What was refused then is over: another command may be under way.
		e.Event.CaptureRefused, e.Event.CancelRefused = false, false
	}
	found, named, err := b.subject(ctx, e.Received, out)
	if err != nil {
		return err
	}
	if a := found.first(named); a != nil {
		before := *a
		r.Before = &before
	}
	switch a := r.Before; {
	case out != nil && a != nil:
		b.applyFetched(b.change(*a), &e, out)
	case !found.judge(b, &e):
		return ErrBusy
	}
	e.Event = was.Event
	r.Event, r.Verdict = e, e.Verdict
	if r.Before != nil {
		after := b.change(*r.Before).Attempt
		r.After = &after
	}
	if was.AttemptID != (AttemptID{}) && e.Verdict != fsm.Applied && e.Verdict != fsm.Conflict {
		r.Event = was
		return nil
	}
	return b.tx.EventsSettle(ctx, []StoredEvent{e})
}

// ParseEventID is ParseAttemptID for events; it returns ErrEventNotFound.
func ParseEventID(s string) (EventID, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return EventID{}, ErrEventNotFound
	}
	return EventID(id), nil
}
