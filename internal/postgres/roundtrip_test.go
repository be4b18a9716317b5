package postgres_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/testdb"
	"github.com/paylatch/paylatch/webhooks"
)

// What is written is read back equal, in every field and to the microsecond: alone
// and beside another, which are two forms of a statement.

func TestAnOrderIsReadAsWritten(t *testing.T) {
	t.Parallel()
	store := open(t, testdb.New(t))
	rapid.Check(t, func(r *rapid.T) {
		o := payment.Order{
			ID: payment.OrderID(fresh(r)), UserID: payment.UserID(word(r)), CreatedBy: rapid.SampledFrom([]payment.Role{payment.RoleService, payment.RoleCustomer}).Draw(r, "by"), RequestID: payment.RequestID(fresh(r)),
			RequestHash: idempotency.Hash(hash(r)), Money: payment.Money{Minor: amount(r), Currency: "JPY"}, Description: text(r),
			Metadata: rapid.MapOfN(rapid.Custom(text), rapid.Custom(text), 0, 3).Draw(r, "metadata"), CreatedAt: at(r),
		}
		o.UpdatedAt = o.CreatedAt
		do(r, store, func(ctx context.Context, tx payment.Tx) error {
			inserted, err := tx.OrderInsert(ctx, o)
			require.True(r, inserted)
			return err
		})
		there, err := store.Order(t.Context(), o.ID)
		require.NoError(r, err)
		require.Empty(r, there.Attempts)
		there.Attempts = nil
		require.Equal(r, o, there)
		do(r, store, func(ctx context.Context, tx payment.Tx) error {
			inserted, err := tx.OrderInsert(ctx, o)
			require.False(r, inserted)
			there, err2 := tx.OrderByRequest(ctx, o.UserID, o.RequestID)
			require.NoError(r, err2)
			require.Equal(r, o, there)
			return err
		})
	})
}

func TestAnAttemptIsReadAsWritten(t *testing.T) {
	t.Parallel()
	store := open(t, testdb.New(t))
	rapid.Check(t, func(r *rapid.T) {
		var attempts []payment.Attempt
		for range rapid.IntRange(1, 2).Draw(r, "attempts") {
			attempts = append(attempts, anyAttempt(r, order(payment.OrderID(fresh(r)))))
		}
		do(r, store, func(ctx context.Context, tx payment.Tx) error {
			for _, a := range attempts {
				if _, err := tx.OrderInsert(ctx, order(a.OrderID)); err != nil {
					return err
				}
			}
			return tx.AttemptsInsert(ctx, attempts)
		})
		var changes []payment.Change
		for _, a := range attempts {
			require.Equal(r, born(a), attemptThere(r, store, a.ID))
			if a.State.Final() {
				a.FinalizedAt = maybe(r, true)
			}
			do(r, store, func(ctx context.Context, tx payment.Tx) error {
				sealed, err := tx.SealedToken(ctx, a.ID)
				require.Equal(r, a.SealedToken, sealed)
				return err
			})
			a.SealedToken = nil
			changes = append(changes, payment.Change{Attempt: a, Was: 1, Holds: true, EraseToken: a.State.Final()})
		}
		do(r, store, func(ctx context.Context, tx payment.Tx) error { return tx.SaveChanges(ctx, changes) })
		for _, c := range changes {
			require.Equal(r, c.Attempt, attemptThere(r, store, c.Attempt.ID))
			do(r, store, func(ctx context.Context, tx payment.Tx) error {
				sealed, err := tx.SealedToken(ctx, c.Attempt.ID)
				require.Equal(r, c.EraseToken, sealed == nil)
				return err
			})
		}
		a := changes[0].Attempt
		found, err := store.AttemptsByRequest(t.Context(), []payment.RequestName{a.Name(), {Order: a.OrderID, User: a.UserID, Request: "another"}})
		require.NoError(r, err)
		require.Len(r, found, 1)
		by := found[a.Name()]
		by.ReadAt = time.Time{}
		require.Equal(r, a, by)
	})
}

func TestAStoredEventIsReadAsWritten(t *testing.T) {
	t.Parallel()
	store := open(t, testdb.New(t))
	rapid.Check(t, func(r *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(anyEvent), 1, 2).Draw(r, "events")
		do(r, store, func(ctx context.Context, tx payment.Tx) error { return tx.EventsInsert(ctx, slices.Clone(events)) })
		for _, e := range events {
			do(r, store, func(ctx context.Context, tx payment.Tx) error { return readAsWritten(ctx, r, tx, e) })
		}
	})
}

func readAsWritten(ctx context.Context, r *rapid.T, tx payment.Tx, e payment.StoredEvent) error {
	there, err := tx.EventLock(ctx, e.ID)
	require.Equal(r, e, there)
	if e.NextTryAt != nil && len(e.Event.References) > 0 {
		last := e.Event.References[len(e.Event.References)-1]
		found := ids(tx.EventsParked(ctx, []payment.Reference{{Account: e.Account, Name: last}}))
		require.True(r, slices.Contains(found, e.Event.ID) || strings.Contains(last, "\x1f"))
	}
	return err
}

// TestEveryFieldIsTried fails when a new field is not drawn above.
func TestEveryFieldIsTried(t *testing.T) {
	t.Parallel()
	unset := map[string]bool{}
	rapid.Check(t, func(r *rapid.T) {
		a, e := anyAttempt(r, order("o1")), anyEvent(r)
		a.FinalizedAt = maybe(r, true)
		for _, v := range []any{a, e, e.Received, e.Event} {
			s := reflect.ValueOf(v)
			for i := range s.NumField() {
				if !s.Type().Field(i).IsExported() {
					continue // made from the others
				}
				name := s.Type().Name() + "." + s.Type().Field(i).Name
				if never, seen := unset[name]; !seen || never {
					unset[name] = s.Field(i).IsZero()
				}
			}
		}
	})
	for name, never := range unset {
		require.Equal(t, slices.Contains([]string{"Attempt.ReadAt", "Attempt.Siblings", "Attempt.Movements", "StoredEvent.Unreadable"}, name), never, name)
	}
}

func anyAttempt(r *rapid.T, o payment.Order) payment.Attempt {
	created := at(r)
	a := payment.Attempt{
		ID: payment.AttemptID(uuid.Must(uuid.NewV7())), OrderID: o.ID, UserID: payment.UserID(text(r)), RequestID: payment.RequestID(text(r)),
		RequestHash: idempotency.Hash(hash(r)), Account: text(r), ProviderPaymentID: text(r), State: rapid.SampledFrom(fsm.States()).Draw(r, "state"),
		Money: payment.Money{Minor: amount(r), Currency: "JPY"}, Authorized: amount(r), Captured: 2 * payment.MaxAmount, Reversed: amount(r), Disputed: -amount(r), LastMovement: rapid.IntRange(1, 1000).Draw(r, "movement"), Refunded: amount(r),
		Foreign: payment.Money{Minor: 2 * payment.MaxAmount, Currency: "USD"}, ForeignReturned: amount(r), HoldToldAt: maybe(r, false),
		Capture:       rapid.SampledFrom([]payment.CaptureMode{payment.CaptureAutomatic, payment.CaptureManual}).Draw(r, "capture"),
		NextActionURL: text(r), ReturnURL: text(r),
		Intent: payment.Intent{
			Kind:   rapid.SampledFrom([]payment.IntentKind{payment.IntentNone, payment.IntentCapture, payment.IntentCancel}).Draw(r, "intent"),
			Amount: amount(r), Number: rapid.IntRange(0, 1000).Draw(r, "number"), At: at(r),
		},
		Saved: &payment.SavedMethod{Token: word(r), Type: text(r), Display: text(r), Expires: text(r)}, SealedToken: append([]byte{0}, hash(r)...), Version: rapid.IntRange(2, 1_000_000).Draw(r, "version"), Fence: rapid.Int64Min(1).Draw(r, "fence"),
		LeaseUntil: maybe(r, false), Checks: rapid.IntRange(0, 1000).Draw(r, "checks"), NextCheckAt: maybe(r, true), CreatedAt: created, UpdatedAt: at(r),
	}
	if rapid.Bool().Draw(r, "failure") {
		a.Failure = &payment.Failure{Code: word(r), Message: text(r), ProviderCode: text(r)}
	}
	return a
}

// born is an attempt as its insert writes it.
func born(a payment.Attempt) payment.Attempt {
	return payment.Attempt{
		ID: a.ID, OrderID: a.OrderID, UserID: a.UserID, RequestID: a.RequestID, RequestHash: a.RequestHash, Account: a.Account,
		State: fsm.Requested, Money: a.Money, Capture: a.Capture, ReturnURL: a.ReturnURL,
		Version: 1, Fence: 1, LeaseUntil: a.LeaseUntil, NextCheckAt: a.NextCheckAt, CreatedAt: a.CreatedAt, UpdatedAt: a.CreatedAt,
	}
}

func anyEvent(r *rapid.T) payment.StoredEvent {
	e := payment.StoredEvent{
		ID: payment.EventID(uuid.Must(uuid.NewV7())), Digest: [32]byte(hash(r)), Verdict: fsm.Applied, Tries: rapid.IntRange(1, 1000).Draw(r, "tries"),
		OrderID: payment.OrderID(word(r)), AttemptID: payment.AttemptID(uuid.New()),
		Received: payment.Received{
			Account: text(r), Headers: rapid.MapOfN(rapid.Custom(text), rapid.Custom(text), 0, 2).Draw(r, "headers"), Body: hash(r), At: at(r),
			Event: webhooks.Event{
				ID: fresh(r), IDSource: rapid.SampledFrom([]webhooks.IDSource{webhooks.Native, webhooks.Derived}).Draw(r, "source"), Type: text(r),
				Kind: webhooks.Kind(word(r)), References: rapid.SliceOfN(rapid.Custom(word), 1, 3).Draw(r, "references"),
				ProviderPaymentID: text(r), Transaction: text(r), MovementID: text(r), RefundID: text(r), RefundReference: text(r), Money: &webhooks.Money{Minor: amount(r), Currency: text(r)},
				CaptureRefused: rapid.Bool().Draw(r, "refused"), CancelRefused: rapid.Bool().Draw(r, "cancel refused"), Amount: text(r), Cumulative: rapid.Bool().Draw(r, "cumulative"), FailureCode: text(r), ProviderCode: text(r), OccurredAt: at(r),
				Test: rapid.Bool().Draw(r, "test"), TestKnown: rapid.Bool().Draw(r, "known"), NeedsFetch: rapid.Bool().Draw(r, "fetch"), Approved: rapid.Bool().Draw(r, "approved"),
				SecretIndex: rapid.IntRange(-1, 3).Draw(r, "secret"), DeliveryID: text(r),
			},
		},
	}
	if e.NextTryAt = maybe(r, false); e.NextTryAt != nil {
		e.Verdict, e.OrderID, e.AttemptID = payment.Deferred, "", payment.AttemptID{}
	}
	return e
}

func attemptThere(r *rapid.T, store *postgres.Store, id payment.AttemptID) payment.Attempt {
	a, err := store.Attempt(r.Context(), id)
	require.NoError(r, err)
	require.False(r, a.ReadAt.IsZero())
	a.ReadAt = time.Time{}
	return a
}

func do(r *rapid.T, store *postgres.Store, fn func(ctx context.Context, tx payment.Tx) error) {
	require.NoError(r, store.InTx(r.Context(), fn))
}

// text is anything but NUL, which PostgreSQL has no place for.
func text(r *rapid.T) string {
	return strings.ReplaceAll(rapid.StringN(0, 20, -1).Draw(r, "text"), "\x00", "")
}

// word is a text that is not empty.
func word(r *rapid.T) string { return "w" + text(r) }

// fresh is a name that was not drawn before.
func fresh(r *rapid.T) string { return text(r) + uuid.NewString() }

func amount(r *rapid.T) int64 { return rapid.Int64Range(1, payment.MaxAmount).Draw(r, "amount") }

func hash(r *rapid.T) []byte {
	return rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(r, "hash")
}

func at(r *rapid.T) time.Time {
	return time.UnixMicro(rapid.Int64Range(1, 4_000_000_000_000_000).Draw(r, "micros")).UTC()
}

// maybe is a time, or nil unless it is always one.
func maybe(r *rapid.T, always bool) *time.Time {
	if !always && rapid.Bool().Draw(r, "nil") {
		return nil
	}
	t := at(r)
	return &t
}

func TestMovementsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	store := open(t, testdb.New(t))
	rapid.Check(t, func(r *rapid.T) {
		a := anyAttempt(r, order(payment.OrderID(fresh(r))))
		do(r, store, func(ctx context.Context, tx payment.Tx) error {
			if _, err := tx.OrderInsert(ctx, order(a.OrderID)); err != nil {
				return err
			}
			return tx.AttemptsInsert(ctx, []payment.Attempt{a})
		})
		if a.State.Final() {
			a.SealedToken, a.FinalizedAt = nil, maybe(r, true)
		}
		named := payment.Movement{
			Number: 1, Kind: payment.Chargeback, Source: payment.MovementNamed, ProviderID: fresh(r), Money: payment.Money{Minor: amount(r), Currency: "JPY"},
			Cause: payment.Cause{Kind: payment.CauseWebhook, ID: text(r)}, At: orNever(maybe(r, false)), RecordedAt: at(r),
		}
		total := payment.Movement{
			Number: 2, Kind: payment.CaptureReversal, Source: payment.MovementTotal, Money: payment.Money{Minor: -amount(r), Currency: "EUR"},
			Cause: payment.Cause{Kind: payment.CauseCheck, ID: text(r)}, RecordedAt: at(r),
		}
		do(r, store, func(ctx context.Context, tx payment.Tx) error {
			return tx.SaveChanges(ctx, []payment.Change{{Attempt: a, Was: 1, Movements: []payment.Movement{named, total}}})
		})
		name := payment.MovementName{Account: a.Account, Kind: payment.Chargeback, ID: named.ProviderID}
		do(r, store, func(ctx context.Context, tx payment.Tx) error {
			movements, owners, err := tx.MovementsRead(ctx, []payment.AttemptID{a.ID}, []payment.MovementName{name, {Account: a.Account, Kind: payment.ChargebackReversal, ID: named.ProviderID}})
			require.Equal(r, map[payment.AttemptID][]payment.Movement{a.ID: {named, total}}, movements)
			require.Equal(r, map[payment.MovementName]payment.AttemptID{name: a.ID}, owners)
			return err
		})
	})
}

func orNever(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
