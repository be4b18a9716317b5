package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
)

func TestAStoredMethodIsReadAsWritten(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	rapid.Check(t, func(r *rapid.T) {
		m, was := payment.StoredMethod{Account: text(r), SavedMethod: payment.SavedMethod{Token: "t" + fresh(r)}}, 0
		for range 2 { // new, then written over
			m.Type, m.Display, m.Expires, m.RemovedAt = text(r), text(r), text(r), maybe(r, false)
			m.UserID, m.OrderID, m.AttemptID = payment.UserID(text(r)), payment.OrderID(text(r)), payment.AttemptID{}
			if rapid.Bool().Draw(r, "stored by an attempt") {
				m.AttemptID = payment.AttemptID(uuid.Must(uuid.NewV7()))
			}
			m.ChangedAt, m.RestoredAt, m.Version, m.UpdatedAt = time.Time{}, time.Time{}, was+1, at(r)
			if rapid.Bool().Draw(r, "changed") {
				m.ChangedAt, m.RestoredAt = at(r), at(r)
			}
			do(r, store, func(ctx context.Context, tx postgres.Tx) error {
				return tx.Save(ctx, changeset.Writes{Methods: []changeset.MethodWrite{{Method: m, Was: was}}})
			})
			do(r, store, func(ctx context.Context, tx postgres.Tx) error {
				there, err := tx.MethodsLock(ctx, []payment.MethodName{m.Name(), {Account: m.Account, Token: "another"}})
				require.Equal(r, []payment.StoredMethod{m}, there)
				return err
			})
			removed, err := store.MethodRemoved(r.Context(), m.Name())
			require.NoError(r, err)
			require.Equal(r, m.RemovedAt != nil, removed)
			was = m.Version
		}
		err := store.InAnyTx(r.Context(), func(ctx context.Context, tx postgres.Tx) error {
			return tx.Save(ctx, changeset.Writes{Methods: []changeset.MethodWrite{{Method: m, Was: 1}}})
		})
		require.Error(r, err, "another transaction has written it since")
	})
}
