package payment

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"
)

// Resolved is who closed a discrepancy, how and why. ProviderPaymentID is the
// payment, or the refund, that was found at the provider, where the resolution is paid.
type Resolved struct {
	Resolution        Resolution
	ProviderPaymentID string
	By                string
	Reason            string
	At                time.Time
}

// Proposed is who called a discrepancy paid by which payment, or refund, that the provider
// can't be asked about, and why: it takes a second person.
type Proposed struct {
	ProviderPaymentID string
	By                string
	Reason            string
	At                time.Time
}

// Resolve is the command: what a person found out.
type Resolve struct {
	ID                DiscrepancyID
	Resolution        Resolution
	ProviderPaymentID string
	Reason            string
	// With runs in the transaction that settles the discrepancy, or writes what is
	// proposed, after that, and may run twice; nil for nothing. It does not run for what
	// was settled before.
	With func(ctx context.Context, tx Tx, d Discrepancy) error
}

// maxReason bounds what a person writes, in bytes.
const maxReason = 2000

// Resolve closes a discrepancy and keeps who did it and why; Discrepancy.Possible says
// what that does. The provider is asked about what is called paid, and its word for the
// amount counts. Where it can't be asked, the discrepancy stays open, with what is Proposed,
// until a second person resolves it so. The same resolution again is answered with the
// first. It returns ErrForbidden, a ValidationError, ErrPaymentIDMissing,
// ErrDiscrepancyNotFound, ErrResolved, ErrNotPending, ErrHoldsMoney,
// ErrResolutionImpossible, ErrSecondPerson, ErrPaymentTaken, and ErrBusy while a runner
// asks the provider, whose answer may decide it otherwise.
func (s *Service) Resolve(ctx context.Context, actor Actor, cmd Resolve) (Discrepancy, error) {
	if err := actor.mayResolve(); err != nil {
		return Discrepancy{}, err
	}
	if err := cmd.valid(); err != nil {
		return Discrepancy{}, err
	}
	d, err := s.store.Discrepancy(ctx, cmd.ID)
	if err != nil {
		return Discrepancy{}, err
	}
	var says witness
	if cmd.Resolution == ResolvedPaid && d.Resolved == nil {
		if says, err = s.askPaid(ctx, d, cmd.ProviderPaymentID); err != nil {
			return d, err
		}
	}
	about := d
	err = s.inBatch(ctx, func(ctx context.Context, b *batch) error {
		on, err := b.lockAffected(ctx, about)
		if err != nil {
			return err
		}
		if d, err = b.tx.DiscrepancyLock(ctx, cmd.ID); err != nil {
			return err
		}
		if d.Resolved != nil {
			return cmd.repeats(*d.Resolved)
		}
		return cmd.carryOut(ctx, &decision{b, on, &d, cmd, says, actor})
	})
	return d, err
}

// carryOut settles the discrepancy, or writes what is proposed.
func (c Resolve) carryOut(ctx context.Context, dec *decision) error {
	d := dec.discrepancy
	at := dec.circumstances()
	if err := d.takes(c.Resolution, at); err != nil {
		return err
	}
	proposed, err := dec.move(ctx, d.Moves(at))
	switch {
	case err != nil:
		return err
	case proposed != nil:
		d.Proposed = proposed
		return c.write(ctx, dec.tx, *d, dec.tx.DiscrepancyPropose)
	}
	d.Resolved = &Resolved{c.Resolution, c.ProviderPaymentID, dec.actor.Subject, c.Reason, dec.now()}
	return c.write(ctx, dec.tx, *d, dec.tx.DiscrepancyResolve)
}

// proposes returns what the person only proposes; nil if that is decided.
func (c Resolve) proposes(d Discrepancy, dec *decision) (*Proposed, error) {
	by := dec.actor.Subject
	switch p := d.Proposed; {
	case c.Resolution != ResolvedPaid, !dec.says.silent:
	case p == nil || p.ProviderPaymentID != c.ProviderPaymentID:
		return &Proposed{c.ProviderPaymentID, by, c.Reason, dec.now()}, nil
	case p.By == by:
		return nil, ErrSecondPerson
	}
	return nil, nil
}

func (c Resolve) write(ctx context.Context, tx Tx, d Discrepancy, write func(context.Context, Discrepancy) error) error {
	if err := write(ctx, d); err != nil || c.With == nil {
		return err
	}
	return c.With(ctx, tx, d)
}

// repeats returns nil if the command was carried out before.
func (c Resolve) repeats(r Resolved) error {
	if r.Resolution != c.Resolution || r.ProviderPaymentID != c.ProviderPaymentID {
		return ErrResolved
	}
	return nil
}

func (c Resolve) valid() error {
	switch c.Resolution {
	case ResolvedPaid:
		if c.ProviderPaymentID == "" {
			return ErrPaymentIDMissing
		}
	case ResolvedNotPaid, ResolvedRefundedElsewhere, ResolvedAccepted:
		if c.ProviderPaymentID != "" {
			return invalid("provider_payment_id", "belongs to the resolution paid only: leave it out")
		}
	default:
		return invalid("resolution", "must be paid, not_paid, refunded_elsewhere or accepted")
	}
	if !written(c.Reason, maxReason) {
		return invalid("reason", "say why, in at most 2000 bytes")
	}
	if c.ProviderPaymentID != "" && !written(c.ProviderPaymentID, maxName) {
		return invalid("provider_payment_id", "must be the provider's id of the payment, in at most 512 bytes")
	}
	return nil
}

// written reports whether somebody wrote something that can be kept.
func written(s string, most int) bool {
	return strings.TrimSpace(s) != "" && len(s) <= most && utf8.ValidString(s) && !strings.ContainsRune(s, 0)
}

// Awaits reports whether a second person must confirm what is proposed.
func (d Discrepancy) Awaits() bool { return d.Proposed != nil && d.Resolved == nil }

// Confirmed is who proposed how it was resolved; empty if nobody did.
func (d Discrepancy) Confirmed() string {
	if d.Resolved == nil || d.Proposed == nil || d.Resolved.Resolution != ResolvedPaid || d.Proposed.ProviderPaymentID != d.Resolved.ProviderPaymentID {
		return ""
	}
	return d.Proposed.By
}
