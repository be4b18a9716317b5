package lists

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// The statuses of a reconciliation. A run that was killed has failed.
const (
	RunRunning  = "running"
	RunFinished = "finished"
	RunFailed   = "failed"
)

// Reconciliation is a run that compares a span of a provider's books with the records.
type Reconciliation struct {
	ID       uuid.UUID
	Account  string
	From, To time.Time
	// Source is where the entries came from: books, file or person. By is who began it: daily, or the person.
	Source, By string
	Status     string
	StartedAt  time.Time
	FinishedAt *time.Time
	// Failure is why the run has no end, or, of a finished run, what could not be read. Reason is why a person compared by hand.
	Failure, Reason string
	// Counts are the results of the entries by their names in the storage.
	Counts map[string]int
}

// Differences is the number of entries and payments that were not recorded as the books have them.
func (r Reconciliation) Differences() int {
	c := r.Counts
	return c["looked_up"] + c["applied"] + c["recalled"] + c["review"] + c["missing"]
}

// Settlements lists settlements by the time at which they were booked.
func (s *Service) Settlements(ctx context.Context, actor authz.Actor, q Query) (Page[payment.Settlement], error) {
	return page(ctx, actor, q, bounded(s.store, s.store.Settlements), placeOfSettlement)
}

// Payouts lists payouts by the time at which they were recorded.
func (s *Service) Payouts(ctx context.Context, actor authz.Actor, q Query) (Page[payment.Payout], error) {
	return page(ctx, actor, q, whole(s.store.Payouts), placeOfPayout)
}

// Reconciliations lists reconciliations by their beginning.
func (s *Service) Reconciliations(ctx context.Context, actor authz.Actor, q Query) (Page[Reconciliation], error) {
	return page(ctx, actor, q, whole(s.store.Reconciliations), placeOfReconciliation)
}

// Payout reads a payout. It returns payment.ErrForbidden to an actor who may not list payouts.
func (s *Service) Payout(ctx context.Context, actor authz.Actor, id payment.PayoutID) (payment.Payout, error) {
	if err := actor.Require(payment.RoleService, payment.RoleSupport, payment.RoleAdmin); err != nil {
		return payment.Payout{}, err
	}
	if actor.OnBehalfOf != "" {
		return payment.Payout{}, payment.ErrForbidden
	}
	return s.store.Payout(authz.WithReader(ctx, actor.Reader()), id)
}

func placeOfSettlement(s payment.Settlement) Place { return Place{s.BookedAt(), s.ID().String()} }
func placeOfPayout(p payment.Payout) Place         { return Place{p.CreatedAt, p.ID.String()} }
func placeOfReconciliation(r Reconciliation) Place { return Place{r.StartedAt, r.ID.String()} }

// whole reads a list that is short: an account has some items a day.
func whole[T any](read func(context.Context, Query) ([]T, error)) reader[T] {
	return func(ctx context.Context, q Query) ([]T, Place, error) {
		items, err := read(ctx, q)
		return items, Place{}, err
	}
}

// Settlements implements Store.
func (u Union) Settlements(ctx context.Context, q Query) ([]payment.Settlement, error) {
	return together(ctx, u, q, Store.Settlements, newest(placeOfSettlement))
}

// Payouts implements Store.
func (u Union) Payouts(ctx context.Context, q Query) ([]payment.Payout, error) {
	return together(ctx, u, q, Store.Payouts, newest(placeOfPayout))
}

// Reconciliations implements Store.
func (u Union) Reconciliations(ctx context.Context, q Query) ([]Reconciliation, error) {
	return together(ctx, u, q, Store.Reconciliations, newest(placeOfReconciliation))
}

// Payout implements Store: the first store that has it, or the error of a store that may have it.
func (u Union) Payout(ctx context.Context, id payment.PayoutID) (payment.Payout, error) {
	missing := payment.ErrPayoutNotFound
	for _, s := range u.Stores {
		p, err := s.Payout(ctx, id)
		switch {
		case err == nil:
			return p, nil
		case !errors.Is(err, payment.ErrPayoutNotFound):
			missing = err
		}
	}
	return payment.Payout{}, missing
}
