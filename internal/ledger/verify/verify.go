// Package verify derives every attempt again and reports differences. It derives the state from the log of reports, the
// amounts from the movements, and the schedule from the operations. It reads stored rows and changes nothing.
package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

// Archive reads stored attempts, a portion at a time.
type Archive interface {
	// Evidence reads attempts in the order of their ids, each portion in a snapshot of its own; it locks nothing. With alone
	// set, it returns payment.ErrBusy while another process reads with alone.
	Evidence(ctx context.Context, after payment.AttemptID, limit int, alone bool) ([]Evidence, error)
}

// Evidence is an attempt, with its movements, its operations and all other rows about it, in one snapshot.
type Evidence struct {
	Attempt payment.Attempt
	// Order is the amount of the order. Live is the number of its attempts that are pending or paid.
	Order payment.Money
	// Amended is set if the order had other terms before.
	Amended bool
	Live    int
	// CancelRequestedAt is when the order was to be cancelled, HeldBeside since when another
	// attempt of it has held money without a break; nil if not.
	CancelRequestedAt, HeldBeside *time.Time
	// Accepted is set if a person has accepted the attempt's late money: the order is paid by it.
	Accepted bool

	Log []payment.Transition
	// Refunds and Disputes are the attempt's. Events are the events about the attempt, with only their content and verdicts.
	Refunds  []payment.Refund
	Disputes []payment.Dispute
	// Moves are the reports of money that the attempt's disputes took and returned.
	Moves  []payment.DisputeMove
	Events []payment.StoredEvent
	// Discrepancies are all discrepancies of the attempt, resolved ones included.
	Discrepancies []Opened
}

// Opened is a discrepancy that was opened.
type Opened struct {
	Kind  payment.DiscrepancyKind
	About string
	// Open is set until it is resolved.
	Open bool
}

// Difference is a stored value that does not follow from the other rows.
type Difference struct {
	OrderID   payment.OrderID   `json:"order_id"`
	AttemptID payment.AttemptID `json:"payment_attempt_id"`
	// Check names the rule that does not hold.
	Check string `json:"check"`
	// Text states the expected and the found value.
	Text string `json:"text"`
}

// Verified is the result of one portion.
type Verified struct {
	// Attempts is the number of verified attempts. Last is the id of the last of them.
	Attempts int
	Last     payment.AttemptID
	// End is set if no attempts follow.
	End         bool
	Differences []Difference
}

// Verify derives the attempts after an id, at most limit of them, and reports all differences. It may run on a live database: where that
// does not answer in time, Verify reads fewer attempts at once. It returns payment.ErrBusy as [Archive] does.
func Verify(ctx context.Context, from Archive, after payment.AttemptID, limit int, alone bool) (Verified, error) {
	all, err := from.Evidence(ctx, after, limit, alone)
	for errors.Is(err, payment.ErrUnavailable) && limit > 1 && ctx.Err() == nil {
		limit /= 2
		all, err = from.Evidence(ctx, after, limit, alone)
	}
	if err != nil {
		return Verified{}, err
	}
	v := Verified{Attempts: len(all), Last: after, End: len(all) < limit}
	for i := range all {
		e := examination{Evidence: all[i]}
		e.replay()
		e.movements()
		e.payments()
		e.operations()
		e.money()
		e.events()
		e.refunds()
		e.disputes()
		e.rounds()
		v.Last = e.Attempt.ID
		v.Differences = append(v.Differences, e.found...)
	}
	return v, nil
}

// examination gathers the differences of one attempt.
type examination struct {
	Evidence

	found []Difference
}

func (e *examination) differs(check, format string, args ...any) {
	e.found = append(e.found, Difference{e.Attempt.OrderID, e.Attempt.ID, check, fmt.Sprintf(format, args...)})
}

func (e *examination) opened(kinds ...payment.DiscrepancyKind) bool {
	return slices.ContainsFunc(e.Discrepancies, func(d Opened) bool { return slices.Contains(kinds, d.Kind) })
}

func (e *examination) openedAbout(about ...string) bool {
	return slices.ContainsFunc(e.Discrepancies, func(d Opened) bool { return slices.Contains(about, d.About) })
}
