package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/ledger/imports"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
)

// creations are all ways in which an order is created.
func creations(store *postgres.Store) map[string]func(ctx context.Context, id payment.OrderID) error {
	return map[string]func(ctx context.Context, id payment.OrderID) error{
		"command": func(ctx context.Context, id payment.OrderID) error {
			return store.InAnyTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
				_, err := tx.OrderInsert(ctx, order(id))
				return err
			})
		},
		"import": func(ctx context.Context, id payment.OrderID) error {
			return store.InImportTx(ctx, func(ctx context.Context, tx imports.Tx) error {
				_, err := tx.OrdersMake(ctx, []payment.Order{order("first-" + id), order(id)})
				return err
			})
		},
	}
}

func opened(t *testing.T, store *postgres.Store, epoch int64, n payment.Cell, m payment.CellMap) {
	t.Helper()
	is, err := store.CellMaps().OpenMap(t.Context(), payment.CellEpoch{Epoch: epoch, Number: n, Map: m})
	require.NoError(t, err)
	require.True(t, is)
}

// TestOrdersFollowTheMap creates orders only where all open maps lead them.
func TestOrdersFollowTheMap(t *testing.T) {
	t.Parallel()
	for name := range creations(nil) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := testdb.New(t)
			store := enginetest.Store(t, dsn)
			create := creations(store)[name]
			conn := testdb.Connect(t, dsn)
			require.NoError(t, create(t.Context(), "eu-0"), "the database has no number yet")
			opened(t, store, 1, 0, payment.CellMap{"eu-": 1})
			require.NoError(t, create(t.Context(), "a"))
			require.NoError(t, create(t.Context(), payment.OrderID("ord_"+payment.Cell(1).NewID().String())))
			err := create(t.Context(), "eu-1")
			require.ErrorIs(t, err, payment.ErrUnavailable)
			require.ErrorContains(t, err, "map 1 of the database leads it to cell 1")
			require.Zero(t, testdb.One[int](t, conn, "SELECT count(*) FROM orders WHERE order_id = 'eu-1'"))

			opened(t, store, 2, 0, payment.CellMap{"us-": 2})
			require.ErrorIs(t, create(t.Context(), "eu-2"), payment.ErrUnavailable, "by the older map")
			require.ErrorIs(t, create(t.Context(), "us-2"), payment.ErrUnavailable, "by the newer map")
			require.NoError(t, create(t.Context(), "b"))
			require.NoError(t, store.CellMaps().CloseMaps(t.Context(), 2))
			require.NoError(t, create(t.Context(), "eu-3"))
			require.NoError(t, store.CellMaps().WithdrawMap(t.Context(), 2))
			require.NoError(t, create(t.Context(), "us-3"))
		})
	}
}

// TestAMapWaitsForOrders: a map opens when the transactions that create orders without it have ended, and its reader sees their orders.
func TestAMapWaitsForOrders(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	store := enginetest.Store(t, dsn)
	conn := testdb.Connect(t, dsn)
	m := payment.CellMap{"eu-": 1}
	result := make(chan error, 1)
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		inserted, err := tx.OrderInsert(ctx, order("eu-1"))
		require.True(t, inserted)
		go func() {
			_, err := store.CellMaps().OpenMap(context.WithoutCancel(ctx), payment.CellEpoch{Epoch: 1, Map: m})
			result <- err
		}()
		testdb.Waiting(t, conn, 1)
		return err
	})
	require.NoError(t, <-result)
	id, found, err := store.CellMaps().OrderElsewhere(t.Context(), 0, m)
	require.NoError(t, err)
	require.True(t, found)
	require.EqualValues(t, "eu-1", id)
}

// TestCellOfAttempts reads the cell in the ids of the oldest and the newest attempt.
func TestCellOfAttempts(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	of := func() payment.Cell {
		n, err := store.CellMaps().CellOfAttempts(t.Context(), 5)
		require.NoError(t, err)
		return n
	}
	require.EqualValues(t, 5, of())
	a := attempt("o1")
	a.ID = payment.AttemptID(payment.Cell(7).NewID())
	a.Operations = nil
	charge := a.NewOperation(payment.OperationCharge, payment.OperationOriginRequest, noon)
	charge.Begin(noon, noon.Add(time.Second), noon.Add(time.Minute))
	a.Operations = []payment.Operation{charge}
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		if _, err := tx.OrderInsert(ctx, order("o1")); err != nil {
			return err
		}
		return tx.AttemptsInsert(ctx, []payment.Attempt{a})
	})
	require.EqualValues(t, 7, of())
}

// TestOtherCellIsUnavailable: a store that is meant for another cell serves nothing.
func TestOtherCellIsUnavailable(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	opened(t, enginetest.Store(t, dsn), 1, 1, payment.CellMap{})
	for n, works := range map[payment.Cell]bool{0: false, 1: true, 2: false} {
		store := enginetest.Store(t, dsn)
		store.InCell(n)
		_, err := store.Order(t.Context(), payment.OrderID(uuid.NewString()))
		if works {
			require.ErrorIs(t, err, payment.ErrOrderNotFound)
			continue
		}
		require.ErrorIs(t, err, payment.ErrUnavailable)
		require.ErrorAs(t, err, new(*payment.CellMapError))
	}
}
