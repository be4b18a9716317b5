package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// TestWorklistUsesItsIndexes has 10,000 discrepancies; 50 are open. The open ones are found without reading the others.
func TestWorklistUsesItsIndexes(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn := testdb.Connect(t, url)
	fill(t, conn)
	for _, statement := range []string{
		`INSERT INTO discrepancies (discrepancy_id, kind, order_id, attempt_id, text, opened_at, resolved_at, resolution)
			SELECT gen_random_uuid(), 'late_success', order_id, attempt_id, 'x', now() - make_interval(secs => n), CASE WHEN n > 50 THEN now() END,
				CASE WHEN n > 50 THEN 'accepted' ELSE '' END FROM (SELECT *, row_number() OVER () AS n FROM payment_attempts) a`,
		`INSERT INTO worklist_comments SELECT gen_random_uuid(), discrepancy_id, 'sam', 'x', now() FROM discrepancies, generate_series(1, 3)`,
		`VACUUM ANALYZE discrepancies, worklist_comments`,
	} {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	q, ends := dbsqlc.New(), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	var id uuid.UUID
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT discrepancy_id FROM discrepancies WHERE resolved_at IS NULL LIMIT 1").Scan(&id))
	newest := func(status string) func(context.Context, dbsqlc.DBTX) error {
		return func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.WorklistNewest(ctx, db, &dbsqlc.WorklistNewestParams{FromAt: ends, FromID: uuid.Max, Status: status, OpenedTo: ends, Most: 26})
			return err
		}
	}
	rare := func(p dbsqlc.WorklistNewestParams) func(context.Context, dbsqlc.DBTX) error {
		return func(ctx context.Context, db dbsqlc.DBTX) error {
			p.FromAt, p.FromID, p.OpenedTo, p.Most = ends, uuid.Max, ends, 26
			_, err := q.WorklistNewest(ctx, db, &p)
			return err
		}
	}
	for name, c := range map[string]struct {
		indexes []string
		mode    string
		ask     func(context.Context, dbsqlc.DBTX) error
	}{
		"what is open, newest first": {[]string{"discrepancies_open"}, "force_custom_plan", newest("open")},
		"all, newest first":          {[]string{"discrepancies_by_time"}, "force_custom_plan", newest("")},
		"of a rare account":          {[]string{"discrepancies_by_account"}, "force_custom_plan", rare(dbsqlc.WorklistNewestParams{Account: "none"})},
		"of a rare kind":             {[]string{"discrepancies_by_kind"}, "force_custom_plan", rare(dbsqlc.WorklistNewestParams{Kind: "unknown_here"})},
		"of a rare assignee":         {[]string{"discrepancies_by_assignee"}, "force_custom_plan", rare(dbsqlc.WorklistNewestParams{Assignee: "sam"})},
		"what is open, oldest first": {[]string{"discrepancies_open"}, "force_custom_plan", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.WorklistOldest(ctx, db, &dbsqlc.WorklistOldestParams{Status: "open", OpenedTo: ends, Most: 26})
			return err
		}},
		"the count": {[]string{"Index Only Scan using discrepancies_open"}, "auto", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.WorklistOpen(ctx, db)
			return err
		}},
		"the next turn": {[]string{"discrepancies_open"}, "force_generic_plan", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.WorklistNext(ctx, db, &dbsqlc.WorklistNextParams{Most: 200})
			return err
		}},
		"comments": {[]string{"comments_by_discrepancy"}, "force_generic_plan", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.WorklistComments(ctx, db, &dbsqlc.WorklistCommentsParams{DiscrepancyIds: []uuid.UUID{id}, Most: 50})
			return err
		}},
		"what settles them": {[]string{"discrepancies_pkey", "movements_one_per_number", "settlements", "events_unreadable", "disputes"}, "force_generic_plan", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.WorklistEvidence(ctx, db, []uuid.UUID{id})
			return err
		}},
		"what they are about": {[]string{"discrepancies_pkey", "payment_attempts_pkey", "orders_pkey", "events_one_per_id"}, "force_generic_plan", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.WorklistFacts(ctx, db, []uuid.UUID{id})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &explainer{conn: testdb.Connect(t, testdb.With(t, url, "plan_cache_mode", c.mode))}
			require.ErrorIs(t, c.ask(t.Context(), e), errExplained)
			for _, plan := range e.plans {
				require.NotContains(t, plan, "Seq Scan on discrepancies")
				require.NotContains(t, plan, "Seq Scan on payment_attempts")
				require.NotContains(t, plan, "Seq Scan on provider_events")
				require.NotContains(t, plan, "Seq Scan on worklist_comments")
			}
			for _, plan := range e.plans {
				for _, index := range c.indexes {
					require.Contains(t, plan, index)
				}
			}
		})
	}
}
