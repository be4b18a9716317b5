package engine_test

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// wantCancel puts a cancel of an attempt on disk, as the cancellation of its order does.
const wantCancel = `INSERT INTO operations (order_id, attempt_id, kind, number, account, origin, state, next_at, created_at)
	SELECT order_id, attempt_id, 'cancel', (SELECT count(*) FROM operations o WHERE o.attempt_id = a.attempt_id AND o.kind = 'cancel'), account, 'policy', 'wanted', now(), now()
	FROM payment_attempts a WHERE attempt_id = $1`

// opsView sums up an attempt's operations.
type opsView struct {
	// Intent is the open cancel or capture, and how many have ended.
	Intent intent
	// NextCheckAt is when the first open operation is due. LeaseUntil is the end of a runner's lease. Operations of
	// refunds, and operations that trail a final attempt, do not count.
	NextCheckAt, LeaseUntil *time.Time
	// Checks counts the tries of that operation, Tries those of all open operations, and Fence all takes.
	Checks int
	Tries  int
	Fence  int64
	// Reversed are the capture reversals.
	Reversed int64
	// Leased is the open operation that a runner has, Open are all that are open.
	Leased payment.OperationName
	Open   []payment.OperationName
}

// intent is an open capture or cancel.
type intent struct {
	Kind   payment.OperationKind
	Amount int64
	Number int
	At     time.Time
}

type attempt struct {
	payment.Attempt
	opsView
}

type seen struct {
	payment.View
	opsView
}

func (r *env) opsView(t *testing.T, a payment.Attempt) opsView {
	t.Helper()
	s, err := readOps(t.Context(), r.db, a)
	require.NoError(t, err)
	return s
}

func readOps(ctx context.Context, db *pgxpool.Pool, a payment.Attempt) (s opsView, err error) {
	found, err := db.Query(ctx, `SELECT kind, number, amount, state, lease_until, next_at, tries, fence, created_at FROM operations
		WHERE attempt_id = $1 AND refund_id IS NULL ORDER BY kind, number`, a.ID.String())
	if err != nil {
		return s, err
	}
	defer found.Close()
	closed := 0
	for found.Next() {
		var o payment.Operation
		if err := found.Scan(&o.Kind, &o.Number, &o.Amount, &o.State, &o.LeaseUntil, &o.NextAt, &o.Tries, &o.Fence, &o.CreatedAt); err != nil {
			return s, err
		}
		s.Fence += o.Fence
		command := o.Kind == payment.OperationCancel || o.Kind == payment.OperationCapture
		if !o.Open() {
			if command {
				closed++
			}
			continue
		}
		o.AttemptID = a.ID
		s.Open = append(s.Open, o.Name())
		if o.LeaseUntil != nil {
			s.Leased = o.Name()
		}
		if command && s.Intent.Kind != payment.OperationCancel {
			s.Intent = intent{o.Kind, o.Amount, o.Number, o.CreatedAt}
		}
		s.Tries += o.Tries
		s.LeaseUntil = cmp.Or(s.LeaseUntil, o.LeaseUntil)
		trails := a.State.Final() && o.State == fsm.OperationAccepted // a cancel then waits for its webhook
		if !trails && (s.NextCheckAt == nil || o.NextAt.Before(*s.NextCheckAt)) {
			s.NextCheckAt, s.Checks = o.NextAt, o.Tries
		}
	}
	if err := found.Err(); err != nil {
		return s, err
	}
	s.Intent.Number = closed
	err = db.QueryRow(ctx, "SELECT coalesce(sum(amount), 0)::bigint FROM money_movements WHERE attempt_id = $1 AND kind = 'capture_reversal'",
		a.ID.String()).Scan(&s.Reversed)
	return s, err
}

// cancelling reports whether a cancel of an attempt is open.
func (r *env) cancelling(t *testing.T, id payment.AttemptID) bool {
	t.Helper()
	return r.attempt(t, id).Intent.Kind == payment.OperationCancel
}
