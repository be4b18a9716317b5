package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Daily is the Run.By of the loop.
const Daily = "daily"

const (
	// every is the time from the last finished run to the next run, retry the time from a failed run to the next run.
	every = 24 * time.Hour
	retry = time.Hour
	// overlap is the least part of the last span that is read again: books are written late, and changed later.
	overlap = 72 * time.Hour
	// trail is the least lag that is assumed for books.
	trail = time.Hour
)

// WithBooks lists the accounts with books that a call can read, and the other accounts.
func (r *Reconciler) WithBooks() (with, without []string) {
	for _, name := range slices.Sorted(maps.Keys(r.Accounts.All())) {
		if r.Accounts.Get(name).Books != nil {
			with = append(with, name)
		} else {
			without = append(without, name)
		}
	}
	return with, without
}

// RunDaily compares the entries since the last daily run of an account's books, if that is due. Only one process does so
// at a time. It reports whether it was due.
func (r *Reconciler) RunDaily(ctx context.Context, account string, found func(payment.Discrepancy)) (Count, bool, error) {
	q := Request{Account: account, By: Daily, Lag: overlap, Progress: func(Count) {}, Found: found}
	run, err := r.Store.RunBegin(ctx, account, Daily, func(last Last) *Run {
		now := r.Now()
		var due bool
		if q.Span, due = spanOf(last, now, r.behind(account), max(overlap, r.Accounts.Get(account).BooksOverlap)); !due {
			return nil
		}
		return r.run(q)
	})
	if err != nil || run == nil {
		return Count{}, false, err
	}
	q.Span = gateway.Span{From: run.From, To: run.To}
	count, err := r.carry(ctx, q, *run)
	if err != nil {
		return count, true, fmt.Errorf("reconcile account %s: %w", account, err)
	}
	return count, true, nil
}

// spanOf returns the span of the next daily run, and whether the run is due.
func spanOf(last Last, now time.Time, behind, again time.Duration) (gateway.Span, bool) {
	if last.Running || now.Sub(last.Finished) < every || now.Sub(last.Tried) < retry {
		return gateway.Span{}, false
	}
	span := gateway.Span{From: now.Add(-behind - again), To: now.Add(-behind)}
	if !last.CoveredTo.IsZero() {
		span.From = last.CoveredTo.Add(-again)
	}
	return span, true
}

// behind is how far the books of an account may be behind.
func (r *Reconciler) behind(account string) time.Duration {
	return max(trail, r.Accounts.Get(account).BooksLag)
}

// Ages returns the time since the last finished daily run of each account with books.
func (r *Reconciler) Ages(ctx context.Context) (map[string]time.Duration, error) {
	with, _ := r.WithBooks()
	ages, err := r.Store.RunAges(ctx, Daily, with)
	if err != nil {
		return nil, fmt.Errorf("read when accounts were reconciled: %w", err)
	}
	return ages, nil
}
