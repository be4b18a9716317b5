package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Held is the Run.By of the runs for accounts that are held.
const Held = "restore"

// heldRetry is the time from a failed run for a held account to the next run. heldAgain is the time after a run that has
// compared everything that it could.
const (
	heldRetry = time.Minute
	heldAgain = 10 * time.Minute
)

// Hold is a held account, with its pays and refunds. The database may lack calls that were sent to its provider from
// Since until Until.
type Hold struct {
	Account      string
	Since, Until time.Time
	// ByHand is set if only a person can decide: the database may lack any call.
	ByHand bool
}

// RunHeld reconciles a held account, once the books of the possibly lost period are complete. It returns the run that
// has compared the whole period, this one or an earlier one. It returns false while there is no such run: the account
// stays held. Books without a mark of ours don't show lost payments, so such an account takes a person.
func (r *Reconciler) RunHeld(ctx context.Context, h Hold, found func(payment.Discrepancy)) (uuid.UUID, bool, error) {
	account := r.Accounts.Get(h.Account)
	span, complete := gateway.Span{From: h.Since, To: h.Until}, h.Until.Add(account.BooksLag)
	byHand := h.ByHand || account.BooksMarks == gateway.MarksNone
	if byHand {
		complete = h.Until.AddDate(1000, 0, 0)
	}
	id, covered, err := r.Store.RunOf(ctx, h.Account, span, complete)
	if err != nil || covered || byHand || account.Books == nil {
		return id, covered, err
	}
	q := Request{Account: h.Account, By: Held, Progress: func(Count) {}, Found: found}
	run, err := r.Store.RunBegin(ctx, h.Account, Held, func(last Last) *Run {
		now := r.Now()
		pause := heldRetry
		if last.Finished.After(h.Until) { // the run compared all that it could: the rest takes a person, or time
			pause = heldAgain
		}
		if last.Running || now.Sub(last.Tried) < pause || !now.After(complete) {
			return nil
		}
		q.Span = gateway.Span{From: h.Since.Add(-margin), To: r.complete(h.Account)}
		return r.run(q)
	})
	if err != nil || run == nil {
		return uuid.UUID{}, false, err
	}
	q.Span = gateway.Span{From: run.From, To: run.To}
	if _, err := r.carry(ctx, q, *run); err != nil {
		return uuid.UUID{}, false, fmt.Errorf("reconcile account %s, which is held: %w", h.Account, err)
	}
	return r.Store.RunOf(ctx, h.Account, span, complete)
}

// ErrReason is returned by Compared without a reason.
var ErrReason = errors.New("a reason is required: how the account was compared, and with which result")

// Compared writes that a person has compared a span by hand, where nothing can be read. An account that is held for something in that
// span is released.
func (r *Reconciler) Compared(ctx context.Context, q Request, reason string) error {
	if reason == "" {
		return ErrReason
	}
	_, err := r.Store.RunBegin(ctx, q.Account, q.By, func(Last) *Run {
		run := r.run(q)
		run.Source, run.Reason, run.FinishedAt = FromPerson, reason, &run.StartedAt
		return run
	})
	return err
}
