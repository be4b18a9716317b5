package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// TestOutboxUsesItsIndexes checks the plans of the reads of the feed, and of the delivery states. The feed has 10,000
// batches of three events. The plans are made with statistics and, just after the first events were written, without
// statistics.
func TestOutboxUsesItsIndexes(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]string{
		"with statistics": "VACUUM ANALYZE", "without": "ALTER TABLE outbox SET (autovacuum_enabled = false)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outboxUsesItsIndexes(t, last)
		})
	}
}

func outboxUsesItsIndexes(t *testing.T, last string) {
	t.Helper()
	url := testdb.New(t)
	conn := testdb.Connect(t, url)
	for _, statement := range []string{
		`INSERT INTO outbox_batches (batch, events, last, created_at) SELECT i, 3, 3 * i, now() FROM generate_series(1, 10000) i`,
		`INSERT INTO outbox (batch, nth, order_id, message_id, subject, type, version, payload, created_at)
			SELECT i, n, 'o' || i, gen_random_uuid(), 's', 'order.paid', 1, '{}', now() FROM generate_series(1, 10000) i, generate_series(1, 3) n`,
		`UPDATE outbox_head SET last = 30000`,
		`INSERT INTO endpoints (name, url_digest, position) SELECT 'e' || i, '\x01', 20000 FROM generate_series(1, 5) i`,
		`INSERT INTO endpoint_retries (endpoint, position, order_id, message_id, subject, state, tries, next_at, last_status, last_error)
			SELECT e.name, b.last, o.order_id, o.message_id, o.subject, 'queued', 1, now(), 503, 'x'
			FROM endpoints e, outbox o JOIN outbox_batches b USING (batch) WHERE o.nth = 3 AND o.batch % 5 = 0`,
		`INSERT INTO endpoint_deliveries (endpoint, position, order_id, message_id, at, status, took_ms, error)
			SELECT e.name, 1, o.order_id, o.message_id, now(), 200, 5, '' FROM endpoints e, outbox o WHERE o.batch % 2 = 0`, last,
	} {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	q := dbsqlc.New()
	messages := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	for name, c := range map[string]struct {
		index string
		ask   func(ctx context.Context, db dbsqlc.DBTX) error
	}{
		"the newest page": {"outbox_batches_by_last outbox_in_order", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OutboxAfter(ctx, db, &dbsqlc.OutboxAfterParams{After: 29_990, Until: 30_000, AtMost: 100})
			return err
		}},
		"a page far behind": {"outbox_batches_by_last outbox_in_order", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OutboxAfter(ctx, db, &dbsqlc.OutboxAfterParams{After: 100, Until: 30_000, Types: []string{"order.paid"}, AtMost: 100})
			return err
		}},
		"the oldest position": {"outbox_batches_by_last", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OutboxOldest(ctx, db)
			return err
		}},
		"where events were delivered": {"outbox_once outbox_batches_pkey retries_once endpoint_deliveries_by_message", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OutboxDeliveries(ctx, db, &dbsqlc.OutboxDeliveriesParams{OrderID: "o500", MessageIds: messages})
			return err
		}},
		"the log of an endpoint": {"endpoint_deliveries_ outbox_once", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.EndpointDeliveries(ctx, db, &dbsqlc.EndpointDeliveriesParams{Endpoint: "e3", Before: 50_000, AtMost: 26})
			return err
		}},
		"old batches": {"outbox_batches_by_last outbox_in_order", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OutboxPurge(ctx, db, &dbsqlc.OutboxPurgeParams{AtMost: 10, Before: time.Now()})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
				e := &explainer{conn: testdb.Connect(t, testdb.With(t, url, "plan_cache_mode", mode))}
				require.ErrorIs(t, c.ask(t.Context(), e), errExplained)
				e.plans[0] = strings.ReplaceAll(e.plans[0], "Seq Scan on endpoints e", "the few endpoints")
				e.uses(t, c.index)
			}
		})
	}
}
