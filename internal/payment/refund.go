package payment

import (
	"encoding/hex"
	"errors"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
)

// RefundOrigin is what a refund began with.
type RefundOrigin string

// The origins of a refund.
const (
	// RefundByRequest was asked for by a user's command.
	RefundByRequest RefundOrigin = "request"
	// RefundByPolicy is of the account's policy for late money: one an attempt.
	RefundByPolicy RefundOrigin = "policy"
	// RefundByProvider was made in the provider's own dashboard.
	RefundByProvider RefundOrigin = "provider"
)

// Refund is money on its way back. It moves only by [advanceRefund].
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
	// FormerProviderRefundID is the provider's id that went to another refund, which
	// this one turned out to be; see resign.
	FormerProviderRefundID string

	State   fsm.RefundState
	Money   Money
	Reason  string
	Failure *Failure
	// Reversed refunds succeeded, and the provider took the money back after; or they
	// had failed here, and it paid the money back all the same.
	Reversed bool

	Version     int
	Fence       int64
	LeaseUntil  *time.Time
	Checks      int
	NextCheckAt *time.Time

	CreatedAt, UpdatedAt time.Time
	FinalizedAt          *time.Time
	ReadAt               time.Time
}

func (r Refund) leased(now time.Time) bool { return r.LeaseUntil != nil && r.LeaseUntil.After(now) }

// unsent reports whether the runner that holds the refund is the first that may
// send it. A policy's refund is put on disk by nobody who would.
func (r Refund) unsent() bool { return r.Fence == 1 || r.Fence == 2 && r.Origin == RefundByPolicy }

// resendable reports whether the refund may be sent by more than its first runner.
func (r Refund) resendable(can Capabilities) bool { return r.ReadAt.Sub(r.CreatedAt) < can.sendable() }

// neverSent reports whether nobody has sent the refund, nor will, now that the call of the
// runner that holds it ended with an error: its caller is told so, no other may send it,
// or it is nothing that the provider is ever sent.
func (r Refund) neverSent(p Provider, err error) bool {
	switch {
	case !r.unsent():
		return false
	case errors.Is(err, ErrUnfit):
		return true
	}
	last := r.Fence == 1 || !r.resendable(p.Capabilities())
	return last && (errors.Is(err, ErrNotSent) || errors.Is(err, ErrLicenceEnded))
}

// counts reports whether the refund takes from what is left to refund.
func (r Refund) counts() bool { return r.State == fsm.RefundPending || r.paidBack() }

// paidBack reports whether the customer has the money.
func (r Refund) paidBack() bool {
	return r.State.Final() && (r.State == fsm.RefundSucceeded) != r.Reversed
}

// refundable is what is left to refund, pending refunds taken off.
func refundable(a Attempt, refunds []*Refund) int64 {
	left := a.kept()
	for _, r := range refunds {
		if r.counts() {
			left -= r.Money.Minor
		}
	}
	return max(0, min(left, a.Held()))
}

// Refundable is what is left to refund, those of all its refunds taken off that are
// pending or have paid money back.
func (a Attempt) Refundable(all []Refund) int64 {
	refunds := make([]*Refund, len(all))
	for i := range all {
		refunds[i] = &all[i]
	}
	return refundable(a, refunds)
}

func refundKey(id RefundID) string { return hex.EncodeToString(id[:]) + "-refund" }

// RefundNews is what somebody learnt about a refund.
type RefundNews struct {
	fsm.News
	ProviderRefundID string
	// Money is what the provider says was paid back; nil if it does not say.
	Money   *Money
	Failure *Failure
	// Inferred and Unasked are as those of News, Unnamed is as that of RefundOutcome.
	Inferred, Unasked, Unnamed bool
	Cause                      Cause
}

// in reports whether what the news says was paid back, if it does, is in a currency.
func (n RefundNews) in(c Currency) bool { return n.Money == nil || n.Money.Currency == c }

// advanceRefund applies news to a refund that the transaction holds locked. It
// reports what that opens, if anything.
func advanceRefund(r *Refund, n RefundNews, now time.Time) (fsm.Verdict, DiscrepancyKind) {
	before := *r
	step, err := fsm.NextRefund(r.State, n.News)
	if err != nil {
		return Ignored, ""
	}
	if r.ProviderRefundID == "" {
		r.ProviderRefundID = n.ProviderRefundID
	}
	r.State = step.To
	var opens DiscrepancyKind
	undone := n.News == fsm.NewsReversed || n.News == fsm.NewsFailed && !step.Moved()
	switch {
	case step.Verdict == fsm.Conflict:
		opens = NeedsReview
		r.Reversed = true
	case step.Verdict == fsm.Applied && undone:
		if !r.Reversed {
			opens = RefundReversed
		}
		r.Reversed = r.State != fsm.RefundFailed
	case step.Moved() && r.State == fsm.RefundFailed:
		r.Failure, r.Reversed = n.Failure.ofRefund(), false
	case n.News == fsm.NewsSucceeded && n.Money != nil && *n.Money != r.Money:
		opens = AmountMismatch
	}
	if step.Moved() {
		r.FinalizedAt, r.NextCheckAt, r.LeaseUntil = &now, nil, nil
	}
	verdict := step.Verdict
	if r.State != before.State || r.Reversed != before.Reversed || r.ProviderRefundID != before.ProviderRefundID {
		r.Version++
		r.UpdatedAt = now
		if verdict == fsm.Repeat {
			verdict = fsm.Applied
		}
	} else if verdict == fsm.Applied {
		verdict = fsm.Repeat
	}
	if opens == AmountMismatch {
		verdict = fsm.Conflict
	}
	return verdict, opens
}
