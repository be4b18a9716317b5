package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// The reads of the overview are bounded: the shown hours, and the open work. Counting reads the events behind its
// progress.
func TestOverviewUsesItsIndexes(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn := testdb.Connect(t, url)
	fill(t, conn)
	for _, statement := range []string{
		`INSERT INTO hourly_outcomes SELECT '2026-03-01T00:00:00Z'::timestamptz - i * interval '1 hour', 'attempt', 'acc-' || a, 'EUR', 'failed', c, 1, 1
			FROM generate_series(0, 2000) i, generate_series(1, 4) a, unnest(ARRAY['card_declined', 'canceled', 'expired', 'not_started']) c`,
		`INSERT INTO outbox_batches (batch, events, last, created_at) SELECT i, 3, 3 * i, now() FROM generate_series(1, 10000) i`,
		`INSERT INTO outbox (batch, nth, order_id, message_id, subject, type, version, payload, created_at)
			SELECT i, n, 'o' || i, gen_random_uuid(), 's', 'payment_attempt.failed', 1, '{}', now() FROM generate_series(1, 10000) i, generate_series(1, 3) n`,
		`VACUUM ANALYZE`,
	} {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	q, hour := dbsqlc.New(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		index string
		ask   func(context.Context, dbsqlc.DBTX) error
	}{
		"the hours of a day": {"hourly_outcomes_pkey", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.HourlySeries(ctx, db, hour.Add(-24*time.Hour))
			return err
		}},
		"the rates of two weeks": {"hourly_outcomes_pkey", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.HourlyRates(ctx, db, &dbsqlc.HourlyRatesParams{Day: hour.Add(-24 * time.Hour), Week: hour.AddDate(0, 0, -7), Before: hour.AddDate(0, 0, -14)})
			return err
		}},
		"what is open": {"operations_", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OperationsOpen(ctx, db, 200_000)
			return err
		}},
		"the next portion": {"outbox_batches_by_last", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.HourlyPortion(ctx, db, &dbsqlc.HourlyPortionParams{After: 29000, Batches: 200})
			return err
		}},
		"counting": {"outbox_batches_by_last outbox_in_order", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.HourlyAdvance(ctx, db, &dbsqlc.HourlyAdvanceParams{Types: []string{"payment_attempt.failed"}, After: 29000, Until: 29600})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &explainer{conn: testdb.Connect(t, testdb.With(t, url, "plan_cache_mode", "force_custom_plan"))}
			require.ErrorIs(t, c.ask(t.Context(), e), errExplained)
			for i, plan := range e.plans {
				e.plans[i] = strings.ReplaceAll(plan, "Seq Scan on hourly_progress", "the one row")
			}
			e.uses(t, c.index)
		})
	}
}
