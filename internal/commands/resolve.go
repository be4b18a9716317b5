package commands

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/changeset"
	"github.com/paylatch/paylatch/internal/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/review"
)

// Resolve is the command: what a person found out.
type Resolve struct {
	ID                payment.DiscrepancyID
	Resolution        review.Resolution
	ProviderPaymentID string
	Reason            string
	// With runs in the transaction that resolves the discrepancy, or writes what is proposed,
	// after that, and may run twice; nil for nothing. It does not run for what was resolved
	// before.
	With func(ctx context.Context, tx Tx, d review.Discrepancy) error
}

// maxReason bounds what a person writes, in bytes.
const maxReason = 2000

// Resolve closes a discrepancy and keeps the person and the reason; review.Discrepancy.Possible has
// what that does. What is called paid is looked up at the provider, and the amount of the response
// counts. Where that is not possible, the discrepancy stays open, with what is Proposed, until a
// second person resolves it so. The same resolution again has the response of the first. It returns
// payment's ErrForbidden, ValidationError, ErrPaymentIDMissing, ErrDiscrepancyNotFound,
// ErrResolved, ErrNotPending, ErrHoldsMoney, ErrResolutionImpossible, ErrSecondPerson,
// ErrPaymentTaken, and ErrBusy while a runner calls the provider: the response may decide it
// otherwise.
func (c *Commands) Resolve(ctx context.Context, actor authz.Actor, cmd Resolve) (review.Discrepancy, error) {
	if err := actor.MayResolve(); err != nil {
		return review.Discrepancy{}, err
	}
	if err := cmd.valid(); err != nil {
		return review.Discrepancy{}, err
	}
	d, err := c.Store.Discrepancy(ctx, cmd.ID)
	if err != nil {
		return review.Discrepancy{}, err
	}
	var found evidence
	if cmd.Resolution == review.ResolvedPaid && d.Resolved == nil {
		if found, err = c.lookUpPaid(ctx, d, cmd.ProviderPaymentID); err != nil {
			return d, err
		}
	}
	about := d
	err = changeset.Run(ctx, c.Store.InCommandTx, c.Runner.Rules, func(ctx context.Context, s *changeset.Changeset, tx Tx) error {
		on, err := lockAffected(ctx, s, about)
		if err != nil {
			return err
		}
		if d, err = tx.DiscrepancyLock(ctx, cmd.ID); err != nil {
			return err
		}
		if d.Resolved != nil {
			return cmd.repeats(*d.Resolved)
		}
		return cmd.execute(ctx, &decision{s, tx, on, &d, cmd, found, actor})
	})
	return d, err
}

// execute resolves the discrepancy, or writes what is proposed.
func (cmd Resolve) execute(ctx context.Context, dec *decision) error {
	d := dec.discrepancy
	at := dec.circumstances()
	if err := d.Takes(cmd.Resolution, at); err != nil {
		return err
	}
	proposed, err := dec.move(ctx, d.Moves(at))
	switch {
	case err != nil:
		return err
	case proposed != nil:
		d.Proposed = proposed
		err = dec.tx.DiscrepancyPropose(ctx, *d)
	default:
		d.Resolved = &review.Resolved{
			Resolution: cmd.Resolution, ProviderPaymentID: cmd.ProviderPaymentID, By: dec.actor.Subject, Reason: cmd.Reason, At: dec.Now(),
		}
		err = dec.tx.DiscrepancyResolve(ctx, *d, outbox.Discrepancy(*d))
	}
	if err != nil || cmd.With == nil {
		return err
	}
	return cmd.With(ctx, dec.tx, *d)
}

// proposes returns what the person only proposes; nil if that is decided.
func (cmd Resolve) proposes(d review.Discrepancy, dec *decision) (*review.Proposed, error) {
	by := dec.actor.Subject
	switch p := d.Proposed; {
	case cmd.Resolution != review.ResolvedPaid, !dec.found.silent:
	case p == nil || p.ProviderPaymentID != cmd.ProviderPaymentID:
		return &review.Proposed{ProviderPaymentID: cmd.ProviderPaymentID, By: by, Reason: cmd.Reason, At: dec.Now()}, nil
	case p.By == by:
		return nil, payment.ErrSecondPerson
	}
	return nil, nil
}

// repeats returns nil if the command was executed before.
func (cmd Resolve) repeats(r review.Resolved) error {
	if r.Resolution != cmd.Resolution || r.ProviderPaymentID != cmd.ProviderPaymentID {
		return payment.ErrResolved
	}
	return nil
}

func (cmd Resolve) valid() error {
	switch cmd.Resolution {
	case review.ResolvedPaid:
		if cmd.ProviderPaymentID == "" {
			return payment.ErrPaymentIDMissing
		}
	case review.ResolvedNotPaid, review.ResolvedRefundedElsewhere, review.ResolvedAccepted:
		if cmd.ProviderPaymentID != "" {
			return payment.Invalid("provider_payment_id", "belongs to the resolution paid only: leave it out")
		}
	default:
		return payment.Invalid("resolution", "must be paid, not_paid, refunded_elsewhere or accepted")
	}
	if !written(cmd.Reason, maxReason) {
		return payment.Invalid("reason", "say why, in at most 2000 bytes")
	}
	if cmd.ProviderPaymentID != "" && !written(cmd.ProviderPaymentID, payment.MaxName) {
		return payment.Invalid("provider_payment_id", "must be the provider's id of the payment, in at most 512 bytes")
	}
	return nil
}

// written reports whether a text is there and can be stored.
func written(s string, most int) bool {
	return strings.TrimSpace(s) != "" && len(s) <= most && utf8.ValidString(s) && !strings.ContainsRune(s, 0)
}
