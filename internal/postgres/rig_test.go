package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
)

// soon is how long a test waits for an expected event.
const soon = testdb.Patience

func inTx(t *testing.T, store *postgres.Store, fn func(ctx context.Context, tx postgres.Tx) error) {
	t.Helper()
	require.NoError(t, store.InAnyTx(t.Context(), fn))
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 123456000, time.UTC)

func order(id payment.OrderID) payment.Order {
	return payment.Order{
		ID: id, UserID: "u1", CreatedBy: payment.RoleService, RequestID: "request-" + payment.RequestID(id), RequestHash: idempotency.Hash{1},
		Money: payment.Money{Minor: 1000, Currency: "EUR"}, Metadata: map[string]string{}, CreatedAt: noon, UpdatedAt: noon,
	}
}

// cancelled is the event of an order's cancellation.
func cancelled(id payment.OrderID) outbox.Message {
	return outbox.Order(outbox.OrderCancelled, order(id), payment.AttemptID{}, noon)
}

func attempt(id payment.OrderID) payment.Attempt {
	a := payment.Attempt{
		ID: payment.AttemptID(uuid.Must(uuid.NewV7())), OrderID: id, UserID: "u1", RequestID: "pay-00000001", RequestHash: idempotency.Hash{2},
		Account: "acc", State: fsm.Requested, Money: payment.Money{Minor: 1000, Currency: "EUR"}, Capture: payment.CaptureAutomatic,
		Version: 1, CreatedAt: noon, UpdatedAt: noon,
	}
	charge := a.NewOperation(payment.OperationCharge, payment.OperationOriginRequest, noon)
	charge.Begin(noon, noon.Add(time.Second), noon.Add(time.Minute))
	a.Operations = []payment.Operation{charge}
	return a
}

// save writes changed attempts.
func save(ctx context.Context, tx postgres.Tx, writes ...changeset.AttemptWrite) error {
	return tx.Save(ctx, changeset.Writes{Attempts: writes})
}

// moved is a write of the attempt's operation as do changes it.
func moved(a payment.Attempt, do func(o *payment.Operation)) changeset.AttemptWrite {
	o := a.Operations[0]
	w := changeset.OperationWrite{WasState: string(o.State), WasFence: o.Fence}
	do(&o)
	w.Operation = o
	return changeset.AttemptWrite{Attempt: a, Was: a.Version, Moved: []changeset.OperationWrite{w}}
}

// placedMany puts several orders with one pending attempt each on disk.
func placedMany(t *testing.T, store *postgres.Store, n int) []payment.Attempt {
	t.Helper()
	all := make([]payment.Attempt, n)
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		for i := range all {
			all[i] = attempt(payment.OrderID(uuid.NewString()))
			o := order(all[i].OrderID)
			if _, err := tx.OrderInsert(ctx, o); err != nil {
				return err
			}
		}
		return tx.AttemptsInsert(ctx, all)
	})
	return all
}

// placed puts an order with one pending attempt on disk.
func placed(t *testing.T, store *postgres.Store, id payment.OrderID) payment.Attempt {
	t.Helper()
	a := attempt(id)
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		if _, err := tx.OrderInsert(ctx, order(id)); err != nil {
			return err
		}
		return tx.AttemptsInsert(ctx, []payment.Attempt{a})
	})
	return a
}
