package payment

import (
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/cell"
)

// RefundOrigin is what a refund began with.
type RefundOrigin string

// The origins of a refund.
const (
	// RefundByRequest refunds are of a caller's command.
	RefundByRequest RefundOrigin = "request"
	// RefundByPolicy refunds are of the account's policy for late money: one an attempt.
	RefundByPolicy RefundOrigin = "policy"
	// RefundByProvider refunds were made in the provider's own dashboard.
	RefundByProvider RefundOrigin = "provider"
)

// Refund is a refund's identity and state. Its amount counts by its movement. Only [AdvanceRefund]
// changes its state.
type Refund struct {
	ID        RefundID
	OrderID   OrderID
	AttemptID AttemptID
	Origin    RefundOrigin
	// UserID, RequestID and RequestHash are those of the request; zero without one.
	UserID           UserID
	RequestID        RequestID
	RequestHash      idempotency.Hash
	Account          string
	ProviderRefundID string

	State   fsm.RefundState
	Money   Money
	Reason  string
	Failure *Failure

	Version              int
	CreatedAt, UpdatedAt time.Time
	FinalizedAt          *time.Time
	ReadAt               time.Time
	// LeaseUntil is until when a runner has its operation; nil without one. It is read with the
	// refund and not stored there.
	LeaseUntil *time.Time
	// NextAt is when its operation is due, read as LeaseUntil.
	NextAt *time.Time
}

// NewRefund is a refund of an attempt's money that is pending.
func NewRefund(a Attempt, origin RefundOrigin, m Money, now time.Time) Refund {
	return Refund{
		ID: RefundID(cell.Only.NewID()), OrderID: a.OrderID, AttemptID: a.ID, Origin: origin, Account: a.Account,
		State: fsm.RefundPending, Money: m, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
}

// Leased reports whether a runner had the refund's operation when it was read.
func (r Refund) Leased() bool { return r.LeaseUntil != nil && r.LeaseUntil.After(r.ReadAt) }

// Nameless reports whether the provider may have this refund of ours and has not named it.
func (r Refund) Nameless() bool {
	return r.State == fsm.RefundPending && r.ProviderRefundID == "" && r.Origin != RefundByProvider
}

// movementID is the id by which the attempt has recorded the refund's movement, or is to.
func (r Refund) movementID(a *Attempt) string {
	if _, ours := a.Movement(MovementRefund, r.ID.String()); ours || r.ProviderRefundID == "" {
		return r.ID.String()
	}
	return r.ProviderRefundID
}

// SupersedeRefund takes the name, and with it the money, from a refund that was wrongly attributed
// to the dashboard. A pending one fails.
func SupersedeRefund(r *Refund, cause Cause, now time.Time) {
	if !r.State.Final() {
		AdvanceRefund(r, RefundTold{Says: fsm.NewsFailed, Failure: RefundFailure("not_started")}, cause, false, now)
	}
	r.ProviderRefundID = ""
	r.Version++
	r.UpdatedAt = now
}

// Superseded reports whether a refund turned out to be another one: it has no movement.
func (r Refund) Superseded() bool { return r.Origin == RefundByProvider && r.ProviderRefundID == "" }

// News is the report that leads to the refund's state.
func (r Refund) News() fsm.News {
	switch r.State {
	case fsm.RefundSucceeded:
		return fsm.NewsSucceeded
	case fsm.RefundFailed:
		return fsm.NewsFailed
	case fsm.RefundPending:
	}
	return fsm.NewsProcessing
}

// PaidBack reports whether the customer has the refund's money, as the attempt's movements have it.
func (r Refund) PaidBack(a *Attempt) bool {
	id := r.movementID(a)
	_, paid := a.Movement(MovementRefund, id)
	_, undone := a.Movement(MovementRefundReversal, id)
	return paid && !undone
}

// Reversed reports whether the refund succeeded and its money came back after.
func (r Refund) Reversed(a *Attempt) bool {
	_, undone := a.Movement(MovementRefundReversal, r.movementID(a))
	return undone
}

// Refundable is what is left to refund, pending refunds taken off, in minor units.
func (a Attempt) Refundable(refunds []Refund) int64 {
	left := a.Held()
	for _, r := range refunds {
		if r.State == fsm.RefundPending {
			left -= r.Money.Minor
		}
	}
	return max(0, left)
}

// FindRefund is the refund that a report names, nil if none of them.
func FindRefund(refunds []*Refund, t RefundTold) *Refund {
	i := slices.IndexFunc(refunds, func(r *Refund) bool { return t.Reference != "" && t.Reference == r.ID.String() })
	if i < 0 {
		i = slices.IndexFunc(refunds, func(r *Refund) bool { return t.ProviderID != "" && t.ProviderID == r.ProviderRefundID })
	}
	if i < 0 {
		return nil
	}
	return refunds[i]
}

// Movements are the money movements that a report of a refund implies. The refund is nil where the
// report names none that is recorded.
func (t RefundTold) Movements(a *Attempt, r *Refund) []Told {
	id, money := t.ProviderID, Money{}
	if t.Money != nil {
		money = *t.Money
	}
	if r != nil {
		if t.Money == nil {
			money = r.Money
		}
		named := *r
		if named.ProviderRefundID == "" {
			named.ProviderRefundID = t.ProviderID
		}
		id = named.movementID(a)
	}
	_, paid := a.Movement(MovementRefund, id)
	counted := r != nil && (r.ProviderRefundID != "" || r.afterTotals(a))
	switch {
	case id == "":
	case t.Says == fsm.NewsSucceeded && money.Minor > 0:
		return []Told{{Kind: MovementRefund, ID: id, Money: money, Counted: counted}}
	case t.Says == fsm.NewsFailed && paid && (r == nil || r.State != fsm.RefundFailed):
		return []Told{{Kind: MovementRefundReversal, ID: id}}
	case t.ProviderID != "" && money.Minor > 0 && !paid && !counted:
		return []Told{{Kind: MovementRefund, Money: money, Reserve: true}}
	}
	return nil
}

// afterTotals reports whether the refund was requested after all totals: none can contain it.
func (r Refund) afterTotals(a *Attempt) bool {
	return r.Origin != RefundByProvider && !slices.ContainsFunc(a.Movements, func(m Movement) bool {
		return m.Kind == MovementRefund && m.Source == MovementTotal && m.Money.Minor > 0 && !m.RecordedAt.Before(r.CreatedAt)
	})
}

// AdvanceRefund applies a report to a refund of an attempt that the transaction holds locked. It is
// the only caller of fsm.NextRefund. The movements of the report must be recorded.
func AdvanceRefund(r *Refund, t RefundTold, cause Cause, undone bool, now time.Time) (fsm.Verdict, []Finding) {
	before := *r
	step, err := fsm.NextRefund(r.State, t.Says)
	if err != nil {
		return Ignored, nil
	}
	if r.ProviderRefundID == "" {
		r.ProviderRefundID = t.ProviderID
	}
	r.State = step.To
	verdict := step.Verdict
	var found []Finding
	money := r.Money
	id := r.ID.String()
	switch {
	case verdict == fsm.Conflict:
		found = append(found, Finding{Kind: NeedsReview, About: AboutPaidAfterFailedRefund, AboutID: id, Money: &money, Text: paidAfterFailed})
	case t.Says == fsm.NewsFailed && undone:
		found = append(found, Finding{Kind: RefundReversed, AboutID: id, Money: &money})
	case t.Says == fsm.NewsFailed && !step.Moved():
		verdict = fsm.Repeat
	case step.Moved() && r.State == fsm.RefundFailed:
		r.Failure = t.Failure.ofRefund()
	case t.Says == fsm.NewsSucceeded && t.Money != nil && *t.Money != r.Money:
		verdict = fsm.Conflict
		found = append(found, Finding{Kind: AmountMismatch, AboutID: id, Money: t.Money, Text: paidOtherAmount})
	}
	if step.Moved() {
		r.FinalizedAt = &now
	}
	if r.State != before.State || r.ProviderRefundID != before.ProviderRefundID {
		r.Version++
		r.UpdatedAt = now
		if verdict == fsm.Repeat {
			verdict = fsm.Applied
		}
	}
	return verdict, found
}

const (
	paidAfterFailed = "A refund that had failed here was paid back by the provider all the same: the customer has the money. " +
		"Don't refund it again; if that was done already, get one of the two back."
	paidOtherAmount = "The provider paid back another amount than it was asked for. Compare with its dashboard, and put right what the customer got."
)

// Unclaimed are the recorded refund movements that no refund claims by its id.
func (a *Attempt) Unclaimed(refunds []*Refund) (unclaimed []Movement) {
	for _, m := range a.Movements {
		if m.Kind != MovementRefund || m.Source != MovementNamed || m.Money.Currency != a.Money.Currency {
			continue
		}
		claimed := slices.ContainsFunc(refunds, func(r *Refund) bool {
			return m.ProviderID == r.ProviderRefundID || m.ProviderID == r.ID.String()
		})
		if !claimed {
			unclaimed = append(unclaimed, m)
		}
	}
	return unclaimed
}

// NamedApart is how much of a total of refunds may be of named ones that are not recorded, since
// they are pending or have failed.
func (a *Attempt) NamedApart(refunds []*Refund) (apart int64) {
	for _, r := range refunds {
		if _, paid := a.Movement(MovementRefund, r.movementID(a)); r.ProviderRefundID != "" && !paid {
			apart += r.Money.Minor
		}
	}
	return apart
}
