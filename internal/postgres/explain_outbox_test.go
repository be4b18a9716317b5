package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/testdb"
)

// TestOutboxUsesItsIndexes asks for the plans of the feed's reads among 10,000 batches of three events, with statistics and,
// as soon after the first ones were written, without.
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
		`UPDATE outbox_head SET last = 30000`, last,
	} {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	q := dbsqlc.New()
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
				e.uses(t, c.index)
			}
		})
	}
}
