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
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/webhooks"
)

func event(id string, refs ...string) payment.StoredEvent {
	return payment.StoredEvent{
		ID: payment.EventID(uuid.Must(uuid.NewV7())), Digest: [32]byte{1}, Verdict: fsm.Applied,
		ReceivedEvent: payment.ReceivedEvent{
			Account: "acc", Headers: map[string]string{}, Body: []byte("{}"), At: noon,
			Event: webhooks.Event{ID: id, IDSource: webhooks.Native, Type: "t", Kind: webhooks.KindSucceeded, References: refs},
		},
	}
}

// parked is an event that is due at a time.
func parked(id string, at time.Time, refs ...string) payment.StoredEvent {
	e := event(id, refs...)
	e.Verdict, e.NextTryAt = payment.VerdictUnmatched, &at
	return e
}

func stored(t *testing.T, store *postgres.Store, events ...payment.StoredEvent) {
	t.Helper()
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error { return tx.EventsInsert(ctx, events) })
}

// TestTheSameEventInTwoReplicas lets both decide that it is new; the second one
// decides anew.
func TestTheSameEventInTwoReplicas(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	one, other, watch := enginetest.Store(t, url), enginetest.Store(t, url), testdb.Connect(t, url)
	key := payment.EventKey{Account: "acc", ID: "evt_1"}
	type look struct {
		runs  int
		known map[payment.EventKey][32]byte
		err   error
	}
	second := make(chan look, 1)
	inTx(t, one, func(ctx context.Context, tx postgres.Tx) error {
		if err := tx.EventsInsert(ctx, []payment.StoredEvent{event("evt_1")}); err != nil {
			return err
		}
		// A write goes out with the next read.
		if _, _, err := tx.EventsArriving(ctx, []payment.EventKey{key}, nil); err != nil {
			return err
		}
		go func() {
			var l look
			l.err = other.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
				l.runs++
				var err error
				if l.known, _, err = tx.EventsArriving(ctx, []payment.EventKey{key}, nil); err != nil || len(l.known) > 0 {
					return err
				}
				return tx.EventsInsert(ctx, []payment.StoredEvent{event("evt_0"), event("evt_1")})
			})
			second <- l
		}()
		testdb.Waiting(t, watch, 1)
		return nil
	})
	got := <-second
	require.NoError(t, got.err)
	require.Equal(t, 2, got.runs)
	require.Equal(t, map[payment.EventKey][32]byte{key: {1}}, got.known)
}

func TestEventsKnown(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	stored(t, store, event("evt_1"), event("evt_2"))
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		known, _, err := tx.EventsArriving(ctx, []payment.EventKey{{Account: "acc", ID: "evt_1"}, {Account: "other", ID: "evt_2"}, {Account: "acc", ID: "evt_3"}}, nil)
		require.Equal(t, map[payment.EventKey][32]byte{{Account: "acc", ID: "evt_1"}: {1}}, known)
		return err
	})
}

func TestParkedEventsAreFoundByAnyReference(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	elsewhere := parked("evt_4", noon, "a")
	elsewhere.Account = "other"
	stored(t, store, parked("evt_1", noon, "a", "b"), parked("evt_2", noon, "c"), event("evt_3", "a"), elsewhere)
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		require.Equal(t, []string{"evt_1"}, ids(tx.EventsParked(ctx, []payment.Reference{{Account: "acc", Name: "b"}, {Account: "acc", Name: "x"}})))
		require.Equal(t, []string{"evt_1", "evt_2"}, ids(tx.EventsParked(ctx, []payment.Reference{{Account: "acc", Name: "c"}, {Account: "acc", Name: "a"}})))
		require.Empty(t, ids(tx.EventsParked(ctx, []payment.Reference{{Account: "acc", Name: "x"}, {Account: "third", Name: "a"}})))
		return nil
	})
}

// An event's content was read on arrival. Its bytes, which may be many, are not read again at any try.
func TestParkedEventsAreReadWithoutTheirBytes(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	a := placed(t, store, "o1")
	e := parked("evt_1", noon, a.ID.String())
	e.Headers = map[string]string{"webhook-id": "evt_1"}
	stored(t, store, e)
	e.Headers, e.Body = nil, nil
	for name, read := range map[string]func(ctx context.Context, tx postgres.Tx) ([]payment.StoredEvent, error){
		"due": func(ctx context.Context, tx postgres.Tx) ([]payment.StoredEvent, error) { return tx.EventsDue(ctx, 1) },
		"by refs": func(ctx context.Context, tx postgres.Tx) ([]payment.StoredEvent, error) {
			return tx.EventsParked(ctx, []payment.Reference{{Account: "acc", Name: a.ID.String()}})
		},
		"of an attempt": func(ctx context.Context, tx postgres.Tx) ([]payment.StoredEvent, error) {
			return tx.EventsParkedOf(ctx, a, nil)
		},
	} {
		inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
			found, err := read(ctx, tx)
			require.Equal(t, []payment.StoredEvent{e}, found, name)
			return err
		})
	}
}

// TestParkedEventsOfOthersAreLeft lets one transaction hold events, while another
// looks for the same ones and does not wait.
func TestParkedEventsOfOthersAreLeft(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	now := time.Now()
	stored(t, store, parked("evt_1", now.Add(-2*time.Hour), "a"), parked("evt_2", now.Add(-time.Hour), "b"), parked("evt_3", now.Add(time.Hour), "c"))
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		require.Equal(t, []string{"evt_1"}, ids(tx.EventsDue(ctx, 1)), "the longest due first")
		inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
			require.Equal(t, []string{"evt_2"}, ids(tx.EventsDue(ctx, 10)))
			require.Equal(t, []string{"evt_3"}, ids(tx.EventsParked(ctx, []payment.Reference{{Account: "acc", Name: "a"}, {Account: "acc", Name: "c"}})))
			return nil
		})
		return nil
	})
}

func TestASettledEventIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	a := placed(t, store, "o1")
	e := parked("evt_1", noon, "a")
	stored(t, store, e)
	e.Verdict, e.NextTryAt, e.Tries, e.OrderID, e.AttemptID = fsm.Applied, nil, 3, a.OrderID, a.ID
	e.Headers, e.Body = nil, nil
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error { return tx.EventsSettle(ctx, []payment.StoredEvent{e}) })
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		require.Empty(t, ids(tx.EventsDue(ctx, 10)))
		require.Empty(t, ids(tx.EventsParked(ctx, []payment.Reference{{Account: "acc", Name: "a"}})))
		settled, err := tx.EventLock(ctx, e.ID)
		require.Equal(t, e, settled)
		return err
	})
}

func TestAnEventThatIsNotThere(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	e := event("evt_1")
	require.ErrorIs(t, store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
		_, err := tx.EventLock(ctx, e.ID)
		return err
	}), payment.ErrEventNotFound)
	require.ErrorIs(t, store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
		return tx.EventsSettle(ctx, []payment.StoredEvent{e})
	}), postgres.ErrGuard)
}

func ids(events []payment.StoredEvent, err error) []string {
	var found []string
	for _, e := range events {
		found = append(found, e.Event.ID)
	}
	if err != nil {
		found = append(found, err.Error())
	}
	return found
}

// A lookup of a name that an attempt gains reads no list of pending entries, which is long where many
// events wait.
func TestEventsByReferenceHaveNoPendingList(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), testdb.New(t))
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	require.Equal(t, "1 of 1", testdb.One[string](t, conn, `SELECT count(*) FILTER (WHERE i.reloptions @> '{fastupdate=off}') || ' of ' || count(*)
		FROM pg_class i JOIN pg_am m ON m.oid = i.relam JOIN pg_index x ON x.indexrelid = i.oid
		WHERE m.amname = 'gin' AND x.indrelid = 'provider_events'::regclass`))
}
