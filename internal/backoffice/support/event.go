package support

import (
	"context"

	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
)

// Event returns a stored event with its redacted bytes. It returns payment.ErrForbidden
// and payment.ErrEventNotFound.
func (s *Service) Event(ctx context.Context, who Staff, id payment.EventID) (ShownEvent, error) {
	if err := who.mayLook(); err != nil {
		return ShownEvent{}, err
	}
	e, err := s.store.EventShown(ctx, id)
	if err := s.audited(ctx, who.eventEntry(ViewedEvent, e, id, ""), err); err != nil {
		return ShownEvent{}, err
	}
	return shown(e), nil
}

// Reveal returns an event's raw bytes, personal data included. It returns the errors of Event, payment.ErrEventUnreadable if
// the encryption key of the bytes is missing, and a payment.ValidationError if the reason is missing.
func (s *Service) Reveal(ctx context.Context, who Staff, id payment.EventID, reason string) (Event, error) {
	if err := who.mayAct(reason); err != nil {
		return Event{}, err
	}
	e, err := s.store.EventShown(ctx, id)
	if err == nil && e.Kept && e.Body == nil {
		err = payment.ErrSealed
	}
	if err := s.audited(ctx, who.eventEntry(RevealedEvent, e, id, reason), err); err != nil {
		return Event{}, err
	}
	return e, nil
}

// Replay applies a stored event again, or, with dry, returns its would-be result. An
// event that was applied before changes nothing. It returns payment.ErrForbidden,
// payment.ErrEventNotFound, payment.ErrBusy and a payment.ValidationError without
// a reason.
func (s *Service) Replay(ctx context.Context, who Staff, id payment.EventID, reason string, dry bool) (intake.Replayed, error) {
	if err := who.mayAct(reason); err != nil {
		return intake.Replayed{}, err
	}
	d := who.eventEntry(ReplayAction(dry), Event{}, id, reason)
	r, err := s.payments.Replay(ctx, intake.Replay{
		ID: id, Dry: dry,
		With: func(ctx context.Context, tx intake.Tx, r intake.Replayed) error {
			return s.insertIn(ctx, tx, d.replayed(r), Done)
		},
	})
	if dry || err != nil {
		err = s.audited(ctx, d.replayed(r), err)
	}
	return r, err
}

// ReplayAction returns the action of a replay in the audit log.
func ReplayAction(dry bool) Action {
	if dry {
		return TriedReplay
	}
	return ReplayedEvent
}

func (w Staff) eventEntry(action Action, e Event, id payment.EventID, reason string) AuditEntry {
	d := w.entry(action, "event", id.String())
	d.OrderID, d.AttemptID, d.Reason = e.OrderID, e.AttemptID, reason
	return d
}

func (d AuditEntry) replayed(r intake.Replayed) AuditEntry {
	if r.After != nil {
		d = d.about(*r.After)
	}
	if r.Verdict != "" {
		d.Detail = map[string]any{"verdict": string(r.Verdict), "changed": r.Changed()}
	}
	return d
}
