package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/ledger/verify"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
)

// TestALockedAttemptIsNotWaitedFor looks up three names of two attempts and a name without an
// attempt. One of the attempts is locked.
func TestALockedAttemptIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store, impatient := enginetest.Store(t, url), enginetest.Store(t, testdb.With(t, url, "lock_timeout", "1ms"))
	a, b := placed(t, store, "o1"), placed(t, store, "o2")
	named(t, store, a, "pp-a")
	refs := []payment.Reference{{Account: "acc", Name: a.ID.String()}, {Account: "acc", Name: "pp-a"}, {Account: "acc", Name: b.ID.String()}, {Account: "acc", Name: "none"}}
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		_, _, err := tx.AttemptLock(ctx, a.ID)
		require.NoError(t, err)
		inTx(t, impatient, func(ctx context.Context, tx postgres.Tx) error {
			found, err := tx.AttemptsByReference(ctx, refs)
			require.NoError(t, err)
			require.Len(t, found, 3)
			for _, f := range found {
				if f.Reference.Name == b.ID.String() {
					require.Equal(t, b.ID, f.Attempt.ID)
				} else {
					require.Nil(t, f.Attempt, f.Reference)
				}
			}
			return nil
		})
		return nil
	})
	inTx(t, impatient, func(ctx context.Context, tx postgres.Tx) error {
		found, err := tx.AttemptsByReference(ctx, refs)
		require.NoError(t, err)
		for _, f := range found {
			require.NotNil(t, f.Attempt, "it is free again")
		}
		return nil
	})
}

// TestALockedOrderIsNotWaitedFor takes two orders, and attempts by our own names alone. One order is locked, as by a
// running cancel.
func TestALockedOrderIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store, impatient := enginetest.Store(t, url), enginetest.Store(t, testdb.With(t, url, "lock_timeout", "1ms"))
	a, b := placed(t, store, "o1"), placed(t, store, "o2")
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		_, err := tx.OrderLock(ctx, "o1")
		require.NoError(t, err)
		inTx(t, impatient, func(ctx context.Context, tx postgres.Tx) error {
			_, orders, err := tx.OrdersTake(ctx, nil, []payment.OrderID{"o1", "o2"})
			require.NoError(t, err)
			require.Len(t, orders, 1)
			require.Contains(t, orders, payment.OrderID("o2"))
			found, err := tx.AttemptsByReference(ctx, []payment.Reference{{Account: "acc", Name: a.ID.String()}, {Account: "acc", Name: b.ID.String()}})
			require.NoError(t, err)
			for _, f := range found {
				require.Equal(t, f.ID == b.ID, f.Attempt != nil)
			}
			return nil
		})
		return nil
	})
}

// TestAStaleRefundIsNotWritten is TestAStaleAttemptIsNotWritten for refunds.
func TestAStaleRefundIsNotWritten(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	a := placed(t, store, "o1")
	r := payment.Refund{
		ID: payment.RefundID(uuid.Must(uuid.NewV7())), OrderID: "o1", AttemptID: a.ID, Origin: payment.RefundByRequest, UserID: "u1", RequestID: "refund-0001", Account: "acc",
		State: fsm.RefundPending, Money: payment.Money{Minor: 1, Currency: "EUR"}, Version: 1, CreatedAt: noon, UpdatedAt: noon,
	}
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		return tx.Save(ctx, changeset.Writes{Refunds: []changeset.RefundWrite{{Refund: r}}})
	})
	r.ProviderRefundID, r.Version = "re_1", 3
	err := store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
		return tx.Save(ctx, changeset.Writes{Refunds: []changeset.RefundWrite{{Refund: r, Was: 2}}})
	})
	require.ErrorIs(t, err, postgres.ErrGuard)
	there, err := store.Refund(t.Context(), r.ID)
	require.NoError(t, err)
	require.Empty(t, there.ProviderRefundID)
}

func TestAReferenceIsOfItsAccount(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	a := placed(t, store, "o1")
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		found, err := tx.AttemptsByReference(ctx, []payment.Reference{{Account: "other", Name: a.ID.String()}})
		require.Empty(t, found)
		return err
	})
}

func TestATakenReferenceStaysAndIsTold(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	a, b := placed(t, store, "o1"), placed(t, store, "o2")
	require.Empty(t, named(t, store, a, "pp-1", "pp-2"))
	require.Empty(t, named(t, store, a, "pp-1"), "its own")
	require.Equal(t, []payment.Reference{{Account: "acc", Name: "pp-1"}}, named(t, store, b, "pp-1", "pp-3"))
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		found, err := tx.AttemptsByReference(ctx, []payment.Reference{{Account: "acc", Name: "pp-1"}})
		require.Len(t, found, 1)
		require.Equal(t, a.ID, found[0].Attempt.ID)
		return err
	})
}

// TestANameThatIsTakenMeanwhile runs the transaction again. It then sees the owner of the name.
func TestANameThatIsTakenMeanwhile(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	a, b := placed(t, store, "o1"), placed(t, store, "o2")
	name := payment.Reference{Account: "acc", Name: "pp-1"}
	runs := 0
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		runs++
		owners, err := tx.ReferencesFind(ctx, []payment.Reference{name})
		if err != nil || len(owners) > 0 {
			require.Equal(t, map[payment.Reference]payment.AttemptID{name: a.ID}, owners)
			return err
		}
		named(t, store, a, "pp-1")
		return save(ctx, tx, changeset.AttemptWrite{Attempt: b, Names: []string{"pp-1"}})
	})
	require.Equal(t, 2, runs)
}

// TestAStaleAttemptIsNotWritten writes on top of a version that differs from the version on disk.
func TestAStaleAttemptIsNotWritten(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	a, b := placed(t, store, "o1"), placed(t, store, "o2")
	a.Version, b.Version = 2, 2
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		return save(ctx, tx, changeset.AttemptWrite{Attempt: a, Was: 1, Changed: true})
	})
	a.Version = 3
	err := store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
		return save(ctx, tx, changeset.AttemptWrite{Attempt: b, Was: 1, Changed: true}, changeset.AttemptWrite{Attempt: a, Was: 1, Changed: true})
	})
	require.ErrorIs(t, err, postgres.ErrGuard)
	for id, version := range map[payment.AttemptID]int{a.ID: 2, b.ID: 1} {
		there, err := store.Attempt(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, version, there.Version, "all or nothing")
	}
}

// TestASecondAttemptOfAnOrder must have been prevented under the order's lock. The index shows that the read was stale,
// so the transaction reads again.
func TestASecondAttemptOfAnOrder(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	first := placed(t, store, "o1")
	runs := 0
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		if runs++; runs == 1 {
			second := attempt("o1")
			second.RequestID = "pay-00000002"
			return tx.AttemptsInsert(ctx, []payment.Attempt{second})
		}
		o, err := tx.OrderLock(ctx, "o1")
		require.Equal(t, first.ID, o.Live().ID)
		return err
	})
	require.Equal(t, 2, runs)
}

// TestAnOvertakenOperationIsNotWritten writes on top of a fence, and of a state, that differ from those on disk.
func TestAnOvertakenOperationIsNotWritten(t *testing.T) {
	t.Parallel()
	store, now := enginetest.Store(t, testdb.New(t)), time.Now()
	a := placed(t, store, "o1")
	taken := moved(a, func(o *payment.Operation) { o.Take(payment.Ask, now, now.Add(time.Minute)) })
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error { return save(ctx, tx, taken) })
	for name, stale := range map[string]changeset.AttemptWrite{
		"fence": moved(a, func(o *payment.Operation) { o.Accept() }),
		"state": {Attempt: a, Moved: []changeset.OperationWrite{{Operation: taken.Moved[0].Operation, WasState: "accepted", WasFence: 2}}},
	} {
		runs := 0
		require.Error(t, store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
			runs++
			return save(ctx, tx, stale)
		}))
		require.Equal(t, 4, runs, "%s: the transaction looks again", name)
	}
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		there, _, err := tx.AttemptLock(ctx, a.ID)
		require.Equal(t, fsm.OperationUnknown, there.Operations[0].State)
		require.EqualValues(t, 2, there.Operations[0].Fence)
		return err
	})
}

func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	id := attempt("o1").ID
	_, err := store.Order(t.Context(), "o1")
	require.ErrorIs(t, err, payment.ErrOrderNotFound)
	_, err = store.Attempt(t.Context(), id)
	require.ErrorIs(t, err, payment.ErrAttemptNotFound)
	there, err := store.AttemptsByRequest(t.Context(), []payment.RequestName{{Order: "o1", User: "u1", Request: "r1"}})
	require.NoError(t, err)
	require.Empty(t, there)
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		_, err := tx.OrderLock(ctx, "o1")
		require.ErrorIs(t, err, payment.ErrOrderNotFound)
		_, err = tx.OrderByRequest(ctx, "u1", "r1")
		require.ErrorIs(t, err, payment.ErrOrderNotFound)
		_, _, err = tx.AttemptLock(ctx, id)
		require.ErrorIs(t, err, payment.ErrAttemptNotFound)
		return nil
	})
}

// named gives an attempt the free names, and returns the other names.
func named(t *testing.T, store *postgres.Store, a payment.Attempt, names ...string) (taken []payment.Reference) {
	t.Helper()
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		taken = nil
		refs, free := make([]payment.Reference, len(names)), []string(nil)
		for i, name := range names {
			refs[i] = payment.Reference{Account: a.Account, Name: name}
		}
		owners, err := tx.ReferencesFind(ctx, refs)
		if err != nil {
			return err
		}
		for _, ref := range refs {
			owner, known := owners[ref]
			switch {
			case !known:
				free = append(free, ref.Name)
			case owner != a.ID:
				taken = append(taken, ref)
			}
		}
		return save(ctx, tx, changeset.AttemptWrite{Attempt: a, Names: free})
	})
	return taken
}

// TestUnreadablePaymentsAreNone: no read takes an attempt with unreadable payments for an attempt without payments.
func TestUnreadablePaymentsAreNone(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store := enginetest.Store(t, url)
	db, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close(context.WithoutCancel(t.Context()))) })
	a := placed(t, store, "o1")
	reads := map[string]func(ctx context.Context, tx postgres.Tx) error{
		"attempt": func(ctx context.Context, _ postgres.Tx) error { _, err := store.Attempt(ctx, a.ID); return err },
		"attempts by id": func(ctx context.Context, _ postgres.Tx) error {
			_, err := store.AttemptsByID(ctx, []payment.AttemptID{a.ID})
			return err
		},
		"attempts by request": func(ctx context.Context, _ postgres.Tx) error {
			_, err := store.AttemptsByRequest(ctx, []payment.RequestName{{Order: a.OrderID, User: a.UserID, Request: a.RequestID}})
			return err
		},
		"order": func(ctx context.Context, _ postgres.Tx) error { _, err := store.Order(ctx, a.OrderID); return err },
		"recorded": func(ctx context.Context, _ postgres.Tx) error {
			_, err := store.Recorded(ctx, []payment.AttemptID{a.ID})
			return err
		},
		"history": func(ctx context.Context, _ postgres.Tx) error {
			_, err := store.Support().AttemptHistory(ctx, a.ID)
			return err
		},
		"refundable": func(ctx context.Context, _ postgres.Tx) error {
			_, _, err := store.Requests().Refundable(ctx, a.ID)
			return err
		},
		"evidence": func(ctx context.Context, _ postgres.Tx) error {
			_, err := verify.Verify(ctx, store.Evidence(), payment.AttemptID{}, 10, false)
			return err
		},
		"lock":       func(ctx context.Context, tx postgres.Tx) error { _, _, err := tx.AttemptLock(ctx, a.ID); return err },
		"order lock": func(ctx context.Context, tx postgres.Tx) error { _, err := tx.OrderLock(ctx, a.OrderID); return err },
		"take": func(ctx context.Context, tx postgres.Tx) error {
			_, err := tx.AttemptsTake(ctx, []payment.AttemptID{a.ID}, nil)
			return err
		},
		"by reference": func(ctx context.Context, tx postgres.Tx) error {
			_, err := tx.AttemptsByReference(ctx, []payment.Reference{{Account: "acc", Name: a.ID.String()}})
			return err
		},
	}
	for _, text := range []string{
		`{"p": 5}`, `[]`, `{"p": [{"id": "pi_1", "ca": "much"}]}`, `{"payments": [{"id": "pi_1"}]}`, `{"p": [{"id": "pi_1", "captured": 5}]}`,
	} {
		_, err := db.Exec(t.Context(), "UPDATE payment_attempts SET payments = $1", text)
		require.NoError(t, err)
		for name, read := range reads {
			err := store.InAnyTx(t.Context(), read)
			require.ErrorContains(t, err, "payments", name+" "+text)
		}
	}
	_, err = db.Exec(t.Context(), "UPDATE payment_attempts SET payments = NULL")
	require.NoError(t, err)
	for name, read := range reads {
		require.NoError(t, store.InAnyTx(t.Context(), read), name)
	}
}
