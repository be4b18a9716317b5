package payment

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/paylatch/paylatch/fsm"
)

// Resolution is how a person closes a discrepancy.
type Resolution string

// The resolutions. The first two move a pending attempt, or the pending refund that is
// asked about, the others nothing.
const (
	ResolvedPaid              Resolution = "paid"
	ResolvedNotPaid           Resolution = "not_paid"
	ResolvedRefundedElsewhere Resolution = "refunded_elsewhere"
	ResolvedAccepted          Resolution = "accepted"
)

// Moves reports whether a resolution decides how an attempt or a refund stands.
func (r Resolution) Moves() bool { return r == ResolvedPaid || r == ResolvedNotPaid }

// Resolved is who closed a discrepancy, how and why. ProviderPaymentID is the
// payment, or the refund, that was found at the provider, where the resolution is paid.
type Resolved struct {
	Resolution        Resolution
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
	// With runs in the transaction that settles the discrepancy, after it, and may
	// run twice; nil for nothing. It does not run for what was settled before.
	With func(ctx context.Context, tx Tx, d Discrepancy) error
}

// maxReason bounds what a person writes, in bytes.
const maxReason = 2000

// Resolve closes a discrepancy and keeps who did it and why. Paid and not paid
// move its pending attempt, or its pending refund if it asks what became of one, the
// cause being the person. The same resolution again is answered with the first. It
// returns ErrForbidden, a ValidationError, ErrPaymentIDMissing, ErrDiscrepancyNotFound,
// ErrResolved, ErrNotPending, ErrHoldsMoney, ErrPaymentTaken, and ErrBusy while a
// runner asks the provider, whose answer may decide it otherwise.
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
	about := d
	err = s.inBatch(ctx, func(ctx context.Context, b *batch) error {
		a, err := cmd.lock(ctx, b, about)
		if err != nil {
			return err
		}
		if d, err = b.tx.DiscrepancyLock(ctx, cmd.ID); err != nil {
			return err
		}
		if d.Resolved != nil {
			return cmd.repeats(*d.Resolved)
		}
		if !cmd.Resolution.Moves() && a != nil {
			settleHeld(&b.change(*a).Attempt, d)
			if err := b.save(ctx); err != nil {
				return err
			}
		}
		if cmd.Resolution.Moves() {
			if err := decide(ctx, b, a, d, cmd, actor); err != nil {
				return err
			}
		}
		d.Resolved = &Resolved{cmd.Resolution, cmd.ProviderPaymentID, actor.Subject, cmd.Reason, b.now()}
		return cmd.settle(ctx, b.tx, d)
	})
	return d, err
}

// lock locks what the command may move; nil if that is nothing.
func (c Resolve) lock(ctx context.Context, b *batch, d Discrepancy) (*Attempt, error) {
	if d.AttemptID == nil || !c.Resolution.Moves() && !d.settlesHeld() {
		return nil, nil
	}
	a, err := b.tx.AttemptLock(ctx, *d.AttemptID)
	if _, of := d.Refund(); of && err == nil {
		err = b.loadRefunds(ctx, a.ID)
	}
	return &a, err
}

func (c Resolve) settle(ctx context.Context, tx Tx, d Discrepancy) error {
	if err := tx.DiscrepancyResolve(ctx, d); err != nil || c.With == nil {
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

// decide moves the attempt, or the refund, as the person says.
func decide(ctx context.Context, b *batch, a *Attempt, d Discrepancy, cmd Resolve, actor Actor) (err error) {
	cause := Cause{Kind: CausePerson, ID: actor.Subject}
	switch refund, of := d.Refund(); {
	case a == nil:
		return ErrNotPending
	case of:
		err = decideRefund(b, *a, refund, cmd, cause)
	default:
		err = decideAttempt(ctx, b, *a, cmd, cause)
	}
	if err != nil {
		return err
	}
	return b.save(ctx)
}

func decideAttempt(ctx context.Context, b *batch, a Attempt, cmd Resolve, cause Cause) error {
	switch {
	case a.State.Final():
		return ErrNotPending
	case a.leased(b.now()):
		return ErrBusy
	case cmd.Resolution == ResolvedNotPaid && a.HoldsMoney():
		return ErrHoldsMoney
	}
	news := News{News: fsm.NewsFailed, Failure: NewFailure("not_paid", ""), Cause: cause}
	if cmd.Resolution == ResolvedPaid {
		ref := Reference{a.Account, cmd.ProviderPaymentID}
		owners, err := b.tx.ReferencesFind(ctx, []Reference{ref})
		if err != nil {
			return err
		}
		if owner, taken := owners[ref]; taken && owner != a.ID {
			return ErrPaymentTaken
		}
		news.News, news.Failure, news.ProviderPaymentID = fsm.NewsSucceeded, nil, cmd.ProviderPaymentID
	}
	b.advance(b.change(a), news)
	return nil
}

// decideRefund ends a refund. One that is taken for made in the dashboard may have been
// this one, if this one has no name; see advanceRefund.
func decideRefund(b *batch, a Attempt, id RefundID, cmd Resolve, cause Cause) error {
	r := b.findRefund(a.ID, func(r *Refund) bool { return r.ID == id })
	switch {
	case r == nil, r.State.Final():
		return ErrNotPending
	case r.leased(b.now()):
		return ErrBusy
	}
	news := RefundNews{News: fsm.NewsFailed, Failure: refundNotMade(), Cause: cause}
	if name := cmd.ProviderPaymentID; cmd.Resolution == ResolvedPaid {
		if b.findRefund(a.ID, func(other *Refund) bool {
			return other.ID != id && other.ProviderRefundID == name && (other.Origin != RefundByProvider || r.ProviderRefundID != "")
		}) != nil {
			return ErrPaymentTaken
		}
		news.News, news.Failure, news.ProviderRefundID = fsm.NewsSucceeded, nil, name
	}
	b.advanceRefund(b.change(a), r, news)
	return nil
}

func refundNotMade() *Failure {
	return &Failure{Code: "not_paid", Message: "The refund was not made. Nothing was paid back."}
}
