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
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/webhooks"
)

// Written rows are read back equal, in every field and to the microsecond: alone and beside another, which are two forms
// of a statement.

func TestAnOrderIsReadAsWritten(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	rapid.Check(t, func(r *rapid.T) {
		o := payment.Order{
			ID: payment.OrderID(fresh(r)), UserID: payment.UserID(word(r)), CreatedBy: rapid.SampledFrom([]payment.Role{payment.RoleService, payment.RoleCustomer}).Draw(r, "by"), RequestID: payment.RequestID(fresh(r)),
			RequestHash: idempotency.Hash(hash(r)), Money: payment.Money{Minor: amount(r), Currency: "JPY"}, Description: text(r),
			Metadata: rapid.MapOfN(rapid.Custom(text), rapid.Custom(text), 0, 3).Draw(r, "metadata"), CreatedAt: at(r), Revision: 1,
		}
		o.UpdatedAt = o.CreatedAt
		do(r, store, func(ctx context.Context, tx postgres.Tx) error {
			inserted, err := tx.OrderInsert(ctx, o)
			require.True(r, inserted)
			return err
		})
		there, err := store.Order(t.Context(), o.ID)
		require.NoError(r, err)
		require.Empty(r, there.Attempts)
		there.Attempts = nil
		require.Equal(r, o, there)
		do(r, store, func(ctx context.Context, tx postgres.Tx) error {
			inserted, err := tx.OrderInsert(ctx, o)
			require.False(r, inserted)
			there, err2 := tx.OrderByRequest(ctx, o.UserID, o.RequestID)
			require.NoError(r, err2)
			require.Equal(r, o, there)
			return err
		})
		o = o.Amended(payment.Terms{Money: payment.Money{Minor: amount(r), Currency: "KWD"}, Description: text(r), Metadata: map[string]string{"a": text(r)}}, at(r))
		do(r, store, func(ctx context.Context, tx postgres.Tx) error {
			return tx.OrderAmend(ctx, commands.Amendment{Order: o})
		})
		there, err = store.Order(t.Context(), o.ID)
		require.NoError(r, err)
		there.Attempts = nil
		require.Equal(r, o, there)
	})
}

func TestAnAttemptIsReadAsWritten(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	rapid.Check(t, func(r *rapid.T) {
		var attempts []payment.Attempt
		for range rapid.IntRange(1, 2).Draw(r, "attempts") {
			attempts = append(attempts, anyAttempt(r, order(payment.OrderID(fresh(r)))))
		}
		do(r, store, func(ctx context.Context, tx postgres.Tx) error {
			for _, a := range attempts {
				if _, err := tx.OrderInsert(ctx, order(a.OrderID)); err != nil {
					return err
				}
			}
			return tx.AttemptsInsert(ctx, attempts)
		})
		writes := make([]changeset.AttemptWrite, 0, len(attempts))
		for _, a := range attempts {
			require.Equal(r, born(a), attemptThere(r, store, a.ID))
			if a.State.Final() {
				a.FinalizedAt = maybe(r, true)
			}
			a.Operations = nil
			writes = append(writes, changeset.AttemptWrite{Attempt: a, Was: 1, Changed: true})
		}
		do(r, store, func(ctx context.Context, tx postgres.Tx) error { return save(ctx, tx, writes...) })
		for _, w := range writes {
			require.Equal(r, w.Attempt, attemptThere(r, store, w.Attempt.ID))
		}
		a := writes[0].Attempt
		charge := attempts[0].Operations[0] // this much of it is read
		a.Operations = []payment.Operation{{
			OrderID: a.OrderID, AttemptID: a.ID, Kind: payment.OperationCharge, State: charge.State, LeaseUntil: charge.LeaseUntil,
		}}
		found, err := store.AttemptsByRequest(t.Context(), []payment.RequestName{a.Name(), {Order: a.OrderID, User: a.UserID, Request: "another"}})
		require.NoError(r, err)
		require.Len(r, found, 1)
		by := found[a.Name()]
		by.ReadAt, by.Disputes = time.Time{}, nil
		require.Equal(r, a, by)
	})
}

func TestAStoredEventIsReadAsWritten(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	rapid.Check(t, func(r *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(anyEvent), 1, 2).Draw(r, "events")
		do(r, store, func(ctx context.Context, tx postgres.Tx) error { return tx.EventsInsert(ctx, slices.Clone(events)) })
		for _, e := range events {
			do(r, store, func(ctx context.Context, tx postgres.Tx) error { return readAsWritten(ctx, r, tx, e) })
			shown, err := store.Support().EventShown(t.Context(), e.ID)
			require.NoError(r, err)
			require.Equal(r, e.Body, shown.Body)
			require.Equal(r, e.Headers["content-type"], shown.ContentType)
		}
	})
}

func readAsWritten(ctx context.Context, r *rapid.T, tx postgres.Tx, e payment.StoredEvent) error {
	there, err := tx.EventLock(ctx, e.ID)
	if e.Event.Kind != webhooks.KindUnreadable {
		e.Headers, e.Body = nil, nil // only its meaning counts
	}
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
		for _, v := range []any{a, a.Operations[0], e, e.ReceivedEvent, e.Event} {
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
		require.Equal(t, slices.Contains([]string{"Attempt.ReadAt", "Attempt.Siblings", "Attempt.Movements", "Attempt.Disputes", "Attempt.Moves", "Operation.Number", "Operation.RefundID", "Operation.SealedRequest", "Attempt.SealedReceipt", "Order.SealedDetails", "StoredEvent.Erased", "StoredEvent.Unreadable"}, name), never, name)
	}
}

func anyAttempt(r *rapid.T, o payment.Order) payment.Attempt {
	created := at(r)
	a := payment.Attempt{
		ID: payment.AttemptID(uuid.Must(uuid.NewV7())), OrderID: o.ID, UserID: payment.UserID(text(r)), RequestID: payment.RequestID(text(r)),
		RequestHash: idempotency.Hash(hash(r)), Account: text(r), Merchant: rapid.IntRange(0, 32767).Draw(r, "merchant"),
		ProviderPaymentID: text(r), State: rapid.SampledFrom(fsm.States()).Draw(r, "state"),
		Money: payment.Money{Minor: amount(r), Currency: "JPY"}, Authorized: -amount(r), Captured: 2 * payment.MaxAmount, Refunded: amount(r), Disputed: -amount(r),
		ForeignMoney: rapid.Bool().Draw(r, "foreign"), LastMovement: rapid.IntRange(1, 1000).Draw(r, "movement"),
		Capture:    rapid.SampledFrom([]payment.CaptureMode{payment.CaptureAutomatic, payment.CaptureManual, payment.CaptureSeveral}).Draw(r, "capture"),
		Split:      rapid.Bool().Draw(r, "split"),
		NextAction: payment.Redirect(text(r)),
		Saved:      &payment.SavedMethod{Token: word(r), Type: text(r), Display: text(r), Expires: text(r)},
		Review: payment.Review{
			Status: rapid.SampledFrom([]payment.ReviewStatus{payment.ReviewOpen, payment.ReviewApproved, payment.ReviewDeclined}).Draw(r, "review"),
			ID:     text(r), At: at(r), PaidHeld: rapid.Bool().Draw(r, "paid held"),
		},
		Version: rapid.IntRange(2, 1_000_000).Draw(r, "version"), CreatedAt: created, UpdatedAt: at(r),
	}
	a.Origin = rapid.SampledFrom([]payment.Origin{payment.OriginPaylatch, payment.OriginExternal}).Draw(r, "begun")
	if a.Origin == payment.OriginExternal {
		a.ExpiresAt = maybe(r, true)
	}
	a.Operations = []payment.Operation{anyOperation(r, a)}
	a.Containers = []payment.Container{{ID: word(r), Ended: rapid.Bool().Draw(r, "ended")}}
	a.PageOpen = rapid.Bool().Draw(r, "page")
	a.Payments = []payment.Payment{{
		ID: text(r), Container: text(r), State: fsm.PaymentAuthorized, NamedBy: payment.NamedByWebhook,
		Authorized: amount(r), Captured: amount(r), Refunded: amount(r), Disputed: -amount(r), Failure: text(r),
		FirstAt: at(r), LastAt: at(r), ReportedAt: at(r),
	}}
	if rapid.Bool().Draw(r, "failure") {
		a.Failure = &payment.Failure{Code: word(r), Message: text(r), ProviderCode: text(r)}
	}
	return a
}

// anyOperation is an open charge.
func anyOperation(r *rapid.T, a payment.Attempt) payment.Operation {
	o := a.NewOperation(payment.OperationCharge, payment.OperationOriginRequest, at(r))
	o.State = rapid.SampledFrom([]fsm.OperationState{fsm.OperationWanted, fsm.OperationSent, fsm.OperationUnknown}).Draw(r, "operation")
	o.Amount, o.OriginID, o.ProviderRef, o.Result, o.Payment = amount(r), text(r), text(r), text(r), text(r)
	o.Final, o.HasData, o.Before = rapid.Bool().Draw(r, "final"), rapid.Bool().Draw(r, "data"), amount(r)
	o.Sends = rapid.IntRange(1, 1000).Draw(r, "sends")
	o.Fence, o.Tries = int64(o.Sends)+rapid.Int64Range(0, 1000).Draw(r, "takes"), rapid.IntRange(1, 1000).Draw(r, "tries")
	o.LeaseUntil, o.NextAt, o.FirstSentAt, o.UnpaidAt = maybe(r, false), maybe(r, true), maybe(r, false), maybe(r, false)
	return o
}

func TestADisputeIsReadAsWritten(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	rapid.Check(t, func(r *rapid.T) {
		a := anyAttempt(r, order(payment.OrderID(fresh(r))))
		do(r, store, func(ctx context.Context, tx postgres.Tx) error {
			if _, err := tx.OrderInsert(ctx, order(a.OrderID)); err != nil {
				return err
			}
			return tx.AttemptsInsert(ctx, []payment.Attempt{a})
		})
		was, d := payment.Dispute{}, payment.NewDispute(a, fresh(r))
		for range 2 { // new, then written over
			d.State, d.Reason, d.Version = rapid.SampledFrom(fsm.DisputeStates()).Draw(r, "state"), text(r), was.Version+1
			d.UpdatedAt, d.ClosedAt, d.Money, d.DueBy = at(r), maybe(r, d.State.Closed()), nil, time.Time{}
			if !d.State.Closed() {
				d.ClosedAt = nil
			}
			if rapid.Bool().Draw(r, "states all") {
				d.Money, d.DueBy = &payment.Money{Minor: amount(r), Currency: "EUR"}, at(r)
			}
			if was.Version == 0 {
				d.OpenedAt = at(r)
			}
			if last := at(r); last.After(was.StatusAt) {
				d.StatusAt = last
			}
			do(r, store, func(ctx context.Context, tx postgres.Tx) error {
				return tx.Save(ctx, changeset.Writes{Disputes: []changeset.DisputeWrite{{Dispute: d, Was: was}}})
			})
			do(r, store, func(ctx context.Context, tx postgres.Tx) error {
				there, _, err := tx.DisputesNamed(ctx, []payment.DisputeName{d.Name(), {Account: a.Account, ID: "another"}})
				require.Equal(r, []payment.Dispute{d}, there)
				return err
			})
			shown, err := store.Attempt(r.Context(), a.ID)
			require.NoError(r, err)
			require.Equal(r, []payment.Dispute{d}, shown.Disputes)
			was = d
		}
		err := store.InAnyTx(r.Context(), func(ctx context.Context, tx postgres.Tx) error {
			return tx.Save(ctx, changeset.Writes{Disputes: []changeset.DisputeWrite{{Dispute: d, Was: payment.Dispute{Version: 1}}}})
		})
		require.Error(r, err, "another transaction has written it since")
	})
}

func TestOperationsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	rapid.Check(t, func(r *rapid.T) {
		a := anyAttempt(r, order(payment.OrderID(fresh(r))))
		refund := a.NewOperation(payment.OperationRefund, payment.OperationOriginPolicy, at(r))
		refund.RefundID, refund.Amount = payment.RefundID(uuid.New()), amount(r)
		do(r, store, func(ctx context.Context, tx postgres.Tx) error {
			if _, err := tx.OrderInsert(ctx, order(a.OrderID)); err != nil {
				return err
			}
			return tx.AttemptsInsert(ctx, []payment.Attempt{a})
		})
		operations := func() (there []payment.Operation) {
			do(r, store, func(ctx context.Context, tx postgres.Tx) error {
				locked, _, err := tx.AttemptLock(ctx, a.ID)
				there = locked.Operations
				return err
			})
			return there
		}
		require.Equal(r, a.Operations, operations())
		was := a.Operations[0]
		now := anyOperation(r, a)
		now.Number, now.Amount, now.OriginID, now.Payment, now.CreatedAt, now.UnpaidAt = 0, was.Amount, was.OriginID, was.Payment, was.CreatedAt, was.UnpaidAt
		now.Final, now.HasData, now.Before = was.Final, was.HasData, was.Before
		now.Sends, now.Fence = now.Sends+was.Sends, now.Fence+was.Fence
		do(r, store, func(ctx context.Context, tx postgres.Tx) error {
			return save(ctx, tx, changeset.AttemptWrite{
				Attempt: a, Begun: []payment.Operation{refund},
				Moved: []changeset.OperationWrite{{Operation: now, WasState: string(was.State), WasFence: was.Fence}},
			})
		})
		require.ElementsMatch(r, []payment.Operation{now, refund}, operations())
	})
}

// born is an attempt as its insert writes it.
func born(a payment.Attempt) payment.Attempt {
	return payment.Attempt{
		ID: a.ID, OrderID: a.OrderID, UserID: a.UserID, RequestID: a.RequestID, RequestHash: a.RequestHash, Account: a.Account, Merchant: a.Merchant,
		Origin: a.Origin, ExpiresAt: a.ExpiresAt, State: a.Origin.First(), Money: a.Money, Capture: a.Capture, Split: a.Split,
		Version: 1, CreatedAt: a.CreatedAt, UpdatedAt: a.CreatedAt,
	}
}

func anyEvent(r *rapid.T) payment.StoredEvent {
	e := payment.StoredEvent{
		ID: payment.EventID(uuid.Must(uuid.NewV7())), Digest: [32]byte(hash(r)), Verdict: fsm.Applied, Tries: rapid.IntRange(1, 1000).Draw(r, "tries"),
		OrderID: payment.OrderID(word(r)), AttemptID: payment.AttemptID(uuid.New()),
		ReceivedEvent: payment.ReceivedEvent{
			Account: text(r), Headers: rapid.MapOfN(rapid.Custom(text), rapid.Custom(text), 0, 2).Draw(r, "headers"), Body: hash(r), At: at(r),
			Event: webhooks.Event{
				ID: fresh(r), IDSource: rapid.SampledFrom([]webhooks.IDSource{webhooks.Native, webhooks.Derived}).Draw(r, "source"), Type: text(r),
				Kind: webhooks.Kind(word(r)), References: rapid.SliceOfN(rapid.Custom(word), 1, 3).Draw(r, "references"),
				ProviderPaymentID: text(r), Container: text(r), Payee: text(r), BrowserMark: rapid.Bool().Draw(r, "mark"), MovementID: text(r), CaptureReference: text(r), RefundID: text(r), RefundReference: text(r), Money: &webhooks.Money{Minor: amount(r), Currency: text(r)},
				Refuses: rapid.SampledFrom([]webhooks.Command{"", webhooks.CommandCapture, webhooks.CommandCancel}).Draw(r, "refuses"), Amount: text(r), Cumulative: rapid.Bool().Draw(r, "cumulative"), FailureCode: webhooks.FailureCode(text(r)), ProviderCode: text(r), OccurredAt: at(r),
				Mode: rapid.SampledFrom([]webhooks.Mode{"", webhooks.ModeTest, webhooks.ModeLive}).Draw(r, "mode"), NeedsFetch: rapid.Bool().Draw(r, "fetch"), Approved: rapid.Bool().Draw(r, "approved"), PageOpen: rapid.Bool().Draw(r, "page"), Listed: rapid.Bool().Draw(r, "listed"),
				SecretIndex: rapid.IntRange(-1, 3).Draw(r, "secret"), Unreadable: text(r), Place: rapid.IntRange(0, 3).Draw(r, "place"), DeliveryID: text(r),
			},
		},
	}
	if rapid.Bool().Draw(r, "disputed") {
		e.Event.Dispute = &webhooks.Dispute{
			ID: word(r), Status: webhooks.DisputeStatus(word(r)), Reason: text(r), Money: &webhooks.Money{Minor: amount(r), Currency: text(r)}, DueBy: at(r),
		}
	}
	if rapid.Bool().Draw(r, "reviewed") {
		e.Event.Review = &webhooks.Review{ID: text(r), Status: webhooks.ReviewStatus(word(r)), Implied: rapid.Bool().Draw(r, "implied")}
		e.Event.Method = &webhooks.Method{Tokens: []string{word(r)}, Type: text(r), Display: text(r), Expires: text(r), Restored: rapid.Bool().Draw(r, "restored")}
	}
	if e.NextTryAt = maybe(r, false); e.NextTryAt != nil {
		e.Verdict, e.OrderID, e.AttemptID = payment.VerdictDeferred, "", payment.AttemptID{}
	}
	return e
}

func attemptThere(r *rapid.T, store *postgres.Store, id payment.AttemptID) payment.Attempt {
	a, err := store.Attempt(r.Context(), id)
	require.NoError(r, err)
	require.False(r, a.ReadAt.IsZero())
	require.Equal(r, []payment.Dispute{}, a.Disputes)
	a.ReadAt, a.Disputes = time.Time{}, nil
	return a
}

func do(r *rapid.T, store *postgres.Store, fn func(ctx context.Context, tx postgres.Tx) error) {
	require.NoError(r, store.InAnyTx(r.Context(), fn))
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
	store := enginetest.Store(t, testdb.New(t))
	rapid.Check(t, func(r *rapid.T) {
		a := anyAttempt(r, order(payment.OrderID(fresh(r))))
		do(r, store, func(ctx context.Context, tx postgres.Tx) error {
			if _, err := tx.OrderInsert(ctx, order(a.OrderID)); err != nil {
				return err
			}
			return tx.AttemptsInsert(ctx, []payment.Attempt{a})
		})
		if a.State.Final() {
			a.FinalizedAt = maybe(r, true)
		}
		named := payment.Movement{
			Number: 1, Kind: payment.MovementChargeback, Source: payment.MovementNamed, ProviderID: fresh(r), Money: payment.Money{Minor: amount(r), Currency: "JPY"},
			Cause: payment.Cause{Kind: payment.CauseWebhook, ID: text(r)}, At: orNever(maybe(r, false)), RecordedAt: at(r),
		}
		total := payment.Movement{
			Number: 2, Kind: payment.MovementCaptureReversal, Source: payment.MovementTotal, Money: payment.Money{Minor: -amount(r), Currency: "EUR"},
			Cause: payment.Cause{Kind: payment.CauseCheck, ID: text(r)}, RecordedAt: at(r),
		}
		person := payment.Movement{
			Number: 3, Kind: payment.MovementCapture, Source: payment.MovementPerson, Payment: text(r), ProviderID: fresh(r),
			Money: payment.Money{Minor: amount(r), Currency: "JPY"}, Cause: payment.Cause{Kind: payment.CausePerson, ID: text(r)}, RecordedAt: at(r),
		}
		do(r, store, func(ctx context.Context, tx postgres.Tx) error {
			return save(ctx, tx, changeset.AttemptWrite{Attempt: a, Was: 1, Changed: true, Movements: []payment.Movement{named, total, person}})
		})
		name := payment.MovementName{Account: a.Account, Kind: payment.MovementChargeback, ID: named.ProviderID}
		do(r, store, func(ctx context.Context, tx postgres.Tx) error {
			owners, err := tx.MovementOwners(ctx, []payment.MovementName{name, {Account: a.Account, Kind: payment.MovementChargebackReversal, ID: named.ProviderID}})
			require.Equal(r, map[payment.MovementName]payment.AttemptID{name: a.ID}, owners)
			return err
		})
		do(r, store, func(ctx context.Context, tx postgres.Tx) error {
			there, _, err := tx.AttemptLock(ctx, a.ID)
			require.Equal(r, []payment.Movement{named, total, person}, there.Movements)
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
