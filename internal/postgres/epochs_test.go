package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/events/broker"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/notice"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
)

// TestIdsOfEpochs writes events again after a restore that has kept one and lost the other, by each statement that publishes an event
// of a subject that may have been there before.
func TestIdsOfEpochs(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(id payment.OrderID) outbox.Message{
		"paid": func(id payment.OrderID) outbox.Message {
			return outbox.Order(outbox.OrderPaid, order(id), payment.AttemptID{}, noon)
		},
		"cancelled": cancelled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := testdb.New(t)
			store, admin := enginetest.Store(t, url), testdb.Connect(t, url)
			for _, id := range []payment.OrderID{"kept", "lost"} {
				inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
					_, err := tx.OrderInsert(ctx, order(id))
					return err
				})
			}
			exec := func(sql string, args ...any) {
				t.Helper()
				_, err := admin.Exec(t.Context(), sql, args...)
				require.NoError(t, err)
			}
			exec("UPDATE orders SET cancel_requested_at = now()")
			emit := func(id payment.OrderID) {
				t.Helper()
				inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
					return tx.Save(ctx, changeset.Writes{Messages: []outbox.Message{of(id)}})
				})
			}
			told := func() (ids []uuid.UUID) {
				t.Helper()
				_, head, err := store.NumberEvents(t.Context(), 100)
				require.NoError(t, err)
				events, err := store.EventsAfter(t.Context(), outbox.Query{Until: head, Limit: 100})
				require.NoError(t, err)
				for _, e := range events {
					ids = append(ids, e.ID)
				}
				return ids
			}
			for _, id := range []payment.OrderID{"kept", "lost", "lost"} {
				emit(id)
			}
			require.Equal(t, []uuid.UUID{of("kept").ID, of("lost").ID}, told(), "the first epoch has the ids as ever")

			exec("DELETE FROM outbox WHERE order_id = 'lost'")
			exec("DELETE FROM outbox_batches WHERE last > 1")
			exec("UPDATE outbox_head SET last = 1")
			require.NoError(t, store.Marks().BeginEpoch(t.Context(), time.Now(), time.Now()))
			for range 2 {
				emit("kept")
				emit("lost")
			}
			after := told()
			require.Len(t, after, 2, "each event once")
			require.Equal(t, of("kept").ID, after[0])
			require.NotEqual(t, of("lost").ID, after[1])
			require.Equal(t, uuid.Version(8), after[1].Version())
			require.Equal(t, uuid.RFC4122, after[1].Variant())

			exec("INSERT INTO feed_epochs (epoch, shared) SELECT epoch + 1, 2 FROM feed_epochs")
			emit("kept")
			emit("lost")
			require.Equal(t, after, told(), "an event of an earlier epoch stays the only one")
		})
	}
}

// TestAnEpochEndsLeases restores a database under those that keep a cursor in it. What they read before is not recorded as delivered; a
// record that was too fast is taken back.
func TestAnEpochEndsLeases(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store, admin := enginetest.Store(t, url), testdb.Connect(t, url)
	endpoints, streams, notices := store.Endpoints(), store.Streams(), store.Notices()
	require.NoError(t, endpoints.RegisterEndpoints(t.Context(), map[string][]byte{"e": {1}}))
	require.NoError(t, streams.RegisterStreams(t.Context(), []string{"s"}))
	require.NoError(t, notices.RegisterNotices(t.Context(), []string{"n"}))
	var leases []lease.Lease
	for name, take := range map[string]func(ctx context.Context, name string, life time.Duration) (lease.Lease, error){
		"e": endpoints.TakeEndpoint, "s": streams.TakeStream, "n": notices.TakeNotice,
	} {
		l, err := take(t.Context(), name, time.Hour)
		require.NoError(t, err)
		leases = append(leases, l)
	}
	record := map[string]func(l lease.Lease) error{
		"e": func(l lease.Lease) error {
			return endpoints.RecordDeliveries(t.Context(), l, endpoint.Result{Position: 9})
		},
		"s": func(l lease.Lease) error {
			return streams.RecordPublished(t.Context(), l, broker.Result{Position: 9, At: time.Now()})
		},
		"n": func(l lease.Lease) error { return notices.RecordNotice(t.Context(), l, notice.Result{Position: 9}) },
	}
	for _, l := range leases {
		require.NoError(t, record[l.Name](l))
	}
	require.NoError(t, store.Marks().BeginEpoch(t.Context(), time.Now(), time.Now()))
	for _, l := range leases {
		require.ErrorIs(t, record[l.Name](l), lease.ErrLost, l.Name)
	}
	var positions []int64
	require.NoError(t, admin.QueryRow(t.Context(), `SELECT ARRAY(SELECT position FROM endpoints UNION ALL SELECT position FROM streams
		UNION ALL SELECT position FROM notices)`).Scan(&positions))
	require.Equal(t, []int64{0, 0, 0}, positions)
}
