package payment_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// panicking is a store of which one transaction that is shared ends in a panic,
// after its calls were decided and before they are on disk.
type panicking struct {
	payment.Store

	// attempts or changes say how many at once panic.
	attempts, changes int
	armed, panicked   atomic.Bool
}

func (s *panicking) InTx(ctx context.Context, fn func(context.Context, payment.Tx) error) error {
	return s.Store.InTx(ctx, func(ctx context.Context, tx payment.Tx) error { return fn(ctx, panickingTx{tx, s}) })
}

func (s *panicking) check(n, shared int) {
	if shared > 0 && n >= shared && s.armed.Load() && s.panicked.CompareAndSwap(false, true) {
		panic("in a shared transaction")
	}
}

type panickingTx struct {
	payment.Tx

	store *panicking
}

func (tx panickingTx) AttemptsInsert(ctx context.Context, attempts []payment.Attempt) error {
	tx.store.check(len(attempts), tx.store.attempts)
	return tx.Tx.AttemptsInsert(ctx, attempts)
}

func (tx panickingTx) SaveChanges(ctx context.Context, changes []payment.Change) error {
	tx.store.check(len(changes), tx.store.changes)
	return tx.Tx.SaveChanges(ctx, changes)
}

// Pays that shared a transaction that panicked are done, each by itself: none is charged
// without being on disk, none says it is settled and is not.
func TestAPanicInASharedTransactionIsNobodyElsesSuccess(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]*panicking{"begin": {attempts: 2}, "settle": {changes: 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const pays = 40
			tap := &tapped{}
			r := newRig(t, setup{silent: true, provider: tap.on, store: func(s payment.Store) payment.Store {
				store.Store = s
				return store
			}})
			var charged atomic.Int32
			tap.charge = func(ctx context.Context, c payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
				if _, err := r.store.Attempt(ctx, c.Attempt); err != nil {
					t.Errorf("attempt %s is charged: %v", c.Attempt, err)
				}
				charged.Add(1)
				return send()
			}
			orders := make([]payment.OrderID, pays)
			for i := range orders {
				orders[i] = payment.OrderID(fmt.Sprintf("A-%d", i))
				r.order(t, orders[i])
			}
			store.armed.Store(true)
			race(times(pays, func(i int) {
				p, err := try(t.Context(), r.Service, orders[i], "first-key", "tok_success")
				if err != nil || p.OrderID != orders[i] || p.State != fsm.Succeeded {
					t.Errorf("order %s: attempt %s of %q is %q, %v", orders[i], p.ID, p.OrderID, p.State, err)
				}
			})...)
			require.True(t, store.panicked.Load(), "no two pays shared a transaction")
			require.EqualValues(t, pays, charged.Load())
		})
	}
}
