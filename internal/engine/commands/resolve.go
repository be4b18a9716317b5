package commands

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
)

// Resolve is the command of a person who has found out the facts of a discrepancy.
type Resolve struct {
	ID                payment.DiscrepancyID
	Resolution        payment.Resolution
	ProviderPaymentID string
	Reason            string
	// With is called in the transaction, after the write that resolves the discrepancy or stores the proposal. It may be
	// called twice. It is not called for a discrepancy that was resolved before, or if it is nil.
	With func(ctx context.Context, tx Tx, d payment.Discrepancy) error
}

// maxReason bounds a person's reason, in bytes.
const maxReason = 2000

// Resolve closes a discrepancy and keeps the person and the reason. payment.Discrepancy.Possible has the effects.
//
// Before it frees money, or the order, for another move, it looks up the payment at the provider. A payment that the
// person calls paid is looked up, too, and the amount of the response counts. Resolve refuses a resolution that the
// provider contradicts. If the lookup is not possible, or the payment is a stranger's or has another amount, the
// discrepancy stays open with the proposal, until a second person resolves it the same way. The same resolution again
// gets the first response. A discrepancy that a person's resolution has opened must be closed by another person.
//
// It returns payment's ErrForbidden, ValidationError, ErrPaymentIDMissing, ErrDiscrepancyNotFound, ErrResolved,
// ErrNotPending, ErrHoldsMoney, ErrResolutionImpossible, ErrSecondPerson and ErrPaymentTaken. It returns ErrBusy while a
// runner calls the provider, since the response may decide otherwise.
func (c *Commands) Resolve(ctx context.Context, actor authz.Actor, cmd Resolve) (payment.Discrepancy, error) {
	if err := actor.MayResolve(); err != nil {
		return payment.Discrepancy{}, err
	}
	if err := cmd.valid(); err != nil {
		return payment.Discrepancy{}, err
	}
	d, err := c.Store.Discrepancy(ctx, cmd.ID)
	if err != nil {
		return payment.Discrepancy{}, err
	}
	choice := Choice{Resolution: cmd.Resolution, ProviderPaymentID: cmd.ProviderPaymentID, By: actor.Person(), Reason: cmd.Reason}
	found, err := c.look(ctx, d, choice)
	if err != nil {
		return d, err
	}
	about := d
	err = changeset.Run(ctx, c.Store.InCommandTx, c.Runner.Rules, func(ctx context.Context, s *changeset.Changeset, tx Tx) error {
		on, err := LockAffected(ctx, s, about)
		if err != nil {
			return err
		}
		if d, err = tx.DiscrepancyLock(ctx, cmd.ID); err != nil {
			return err
		}
		if d.Resolved != nil {
			return cmd.repeats(*d.Resolved)
		}
		return cmd.execute(ctx, tx, on.Decide(s, tx, d, choice, found), &d)
	})
	return d, err
}

// look makes the lookups that a resolution depends on.
func (c *Commands) look(ctx context.Context, d payment.Discrepancy, choice Choice) (ResolutionEvidence, error) {
	at := ResolutionLookups{Store: c.Store, Sights: c.Runner, Account: c.Runner.Account, Timeout: c.Runner.ProviderTimeout, Owner: c.owner}
	if d.Resolved != nil {
		return ResolutionEvidence{}, nil
	}
	if choice.Resolution == payment.ResolvedPaid {
		return at.Paid(ctx, d, choice.ProviderPaymentID)
	}
	frees, err := c.frees(ctx, d, choice)
	if err != nil || !frees {
		return ResolutionEvidence{}, err
	}
	return at.Freed(ctx, d, choice)
}

// frees reports whether a resolution frees money, or the order, for another move. It refuses an impossible resolution
// before any lookup.
func (c *Commands) frees(ctx context.Context, about payment.Discrepancy, choice Choice) (frees bool, err error) {
	if about.AttemptID == nil {
		return false, nil
	}
	err = c.Store.InCommandTx(ctx, func(ctx context.Context, tx Tx) error {
		s := changeset.New(tx, c.Runner.Rules)
		on, err := LockAffected(ctx, s, about)
		if err != nil {
			return err
		}
		d, err := tx.DiscrepancyLock(ctx, about.ID)
		if frees = false; err != nil || d.Resolved != nil {
			return err
		}
		at := on.Decide(s, tx, d, choice, ResolutionEvidence{}).Circumstances()
		frees = d.Frees(choice.Resolution, at)
		return d.Takes(choice.Resolution, at)
	})
	return frees, err
}

// owner returns the attempt that has this name; the zero value if no attempt has it.
func (c *Commands) owner(ctx context.Context, ref payment.Reference) (owner payment.AttemptID, err error) {
	err = c.Store.InCommandTx(ctx, func(ctx context.Context, tx Tx) error {
		owners, err := tx.ReferencesFind(ctx, []payment.Reference{ref})
		owner = owners[ref]
		return err
	})
	return owner, err
}

// execute resolves the discrepancy, or writes the proposal.
func (cmd Resolve) execute(ctx context.Context, tx Tx, dec *Decision, d *payment.Discrepancy) error {
	at := dec.Circumstances()
	if err := d.Takes(cmd.Resolution, at); err != nil {
		return err
	}
	proposed, err := dec.Move(ctx, d.Moves(at))
	switch {
	case err != nil:
		return err
	case proposed != nil:
		d.Proposed = proposed
		err = tx.DiscrepancyPropose(ctx, *d)
	default:
		d.Resolved = &payment.Resolved{
			Resolution: cmd.Resolution, ProviderPaymentID: cmd.ProviderPaymentID, By: dec.By, Reason: cmd.Reason, At: dec.Now(),
		}
		err = tx.DiscrepancyResolve(ctx, *d, outbox.Discrepancy(*d))
	}
	if err != nil || cmd.With == nil {
		return err
	}
	return cmd.With(ctx, tx, *d)
}

// repeats returns nil if the command was executed before.
func (cmd Resolve) repeats(r payment.Resolved) error {
	if r.Resolution != cmd.Resolution || r.ProviderPaymentID != cmd.ProviderPaymentID {
		return payment.ErrResolved
	}
	return nil
}

func (cmd Resolve) valid() error {
	switch cmd.Resolution {
	case payment.ResolvedPaid:
		if cmd.ProviderPaymentID == "" {
			return payment.ErrPaymentIDMissing
		}
	case payment.ResolvedNotPaid, payment.ResolvedRefundedElsewhere, payment.ResolvedAccepted:
		if cmd.ProviderPaymentID != "" {
			return payment.Invalid("provider_payment_id", "is only for the resolution `paid`; leave it out")
		}
	case payment.ResolvedSettled: // by itself alone
		fallthrough
	default:
		return payment.Invalid("resolution", "must be paid, not_paid, refunded_elsewhere or accepted")
	}
	if !written(cmd.Reason, maxReason) {
		return payment.Invalid("reason", "give a reason of at most 2000 bytes")
	}
	if cmd.ProviderPaymentID != "" && !written(cmd.ProviderPaymentID, payment.MaxStorableName) {
		return payment.Invalid("provider_payment_id", "must be the provider's id of the payment, in at most 512 bytes")
	}
	return nil
}

// written reports whether a text is there and can be stored.
func written(s string, most int) bool {
	return strings.TrimSpace(s) != "" && len(s) <= most && utf8.ValidString(s) && !strings.ContainsRune(s, 0)
}
