package postgres_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// Lists use the time of creation or the user, and read no whole table. A status, an account, a currency, an amount and
// the time of the last change have no index: they are compared on the way back in time.
func TestListsUseTheirIndexes(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	fill(t, testdb.Connect(t, url))
	q, last, ends := dbsqlc.New(), uuid.Max, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	yesterday := time.Now().AddDate(0, 0, -1)
	type filter struct {
		user, status, account string
		from, to              time.Time
	}
	orders := func(f filter) func(context.Context, dbsqlc.DBTX) error {
		return func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OrdersList(ctx, db, &dbsqlc.OrdersListParams{
				BeforeAt: ends, BeforeID: "\U0010FFFF", CreatedFrom: f.from, CreatedTo: f.to, UpdatedTo: ends, UserID: f.user, Status: f.status, Account: f.account, AmountMax: math.MaxInt64, Most: 26,
			})
			return err
		}
	}
	customer := func(ctx context.Context, db dbsqlc.DBTX) error {
		_, err := q.OrdersList(ctx, db, &dbsqlc.OrdersListParams{
			BeforeAt: ends, BeforeID: "\U0010FFFF", CreatedTo: ends, UpdatedTo: ends, UserID: "u2", AmountMax: math.MaxInt64, Most: 201,
		})
		return err
	}
	attempts := func(f filter) func(context.Context, dbsqlc.DBTX) error {
		return func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.AttemptsList(ctx, db, &dbsqlc.AttemptsListParams{
				BeforeAt: ends, BeforeID: last, CreatedFrom: f.from, CreatedTo: f.to, UpdatedTo: ends, UserID: f.user, Status: f.status, Account: f.account, AmountMax: math.MaxInt64, Most: 26,
			})
			return err
		}
	}
	refunds := func(f filter) func(context.Context, dbsqlc.DBTX) error {
		return func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.RefundsList(ctx, db, &dbsqlc.RefundsListParams{
				BeforeAt: ends, BeforeID: last, CreatedFrom: f.from, CreatedTo: f.to, UpdatedTo: ends, UserID: f.user, Status: f.status, Account: f.account, AmountMax: math.MaxInt64, Most: 26,
			})
			return err
		}
	}
	disputes := func(f filter) func(context.Context, dbsqlc.DBTX) error {
		return func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.DisputesList(ctx, db, &dbsqlc.DisputesListParams{
				BeforeAt: ends, BeforeID: last, CreatedFrom: f.from, CreatedTo: f.to, UpdatedTo: ends, UserID: f.user, Status: f.status, Account: f.account, AnyAmount: true, Most: 26,
			})
			return err
		}
	}
	past := filter{to: yesterday, from: yesterday.AddDate(0, 0, -1)}
	for name, c := range map[string]struct {
		index string
		ask   func(context.Context, dbsqlc.DBTX) error
	}{
		"orders":               {"orders_by_time", orders(filter{to: ends})},
		"orders of a day":      {"orders_by_time", orders(past)},
		"orders of a user":     {"orders_by_user", orders(filter{to: ends, user: "u2"})},
		"a customer's orders":  {"orders_by_user", customer},
		"orders that stand so": {"orders_by_time attempts_one_live_per_order", orders(filter{to: ends, status: "open"})},
		"orders at an account": {"orders_by_time payment_attempts_pkey", orders(filter{to: ends, account: "acc"})},
		"reach of a user": {"orders_by_user", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.OrdersOfUserReach(ctx, db, &dbsqlc.OrdersOfUserReachParams{
				UserID: "u2", BeforeAt: ends, BeforeID: "\U0010FFFF", CreatedTo: ends, Skipped: 19_999,
			})
			return err
		}},
		"attempts":               {"attempts_by_time orders_pkey", attempts(filter{to: ends})},
		"attempts of a day":      {"attempts_by_time", attempts(past)},
		"attempts of a user":     {"orders_by_user payment_attempts_pkey", attempts(filter{to: ends, user: "u2"})},
		"attempts that stand so": {"attempts_by_time", attempts(filter{to: ends, status: "failed", account: "acc"})},
		"refunds":                {"refunds_by_time orders_pkey", refunds(filter{to: ends})},
		"refunds of a day":       {"refunds_by_time", refunds(past)},
		"refunds of a user":      {"orders_by_user refunds_pkey", refunds(filter{to: ends, user: "u2"})},
		"refunds that stand so":  {"refunds_by_time", refunds(filter{to: ends, status: "failed"})},
		"disputes":               {"disputes_by_time orders_pkey", disputes(filter{to: ends})},
		"disputes of a day":      {"disputes_by_time", disputes(past)},
		"disputes of a user":     {"orders_by_user disputes_pkey", disputes(filter{to: ends, user: "u2"})},
		"disputes by their dates": {"disputes_open", func(ctx context.Context, db dbsqlc.DBTX) error {
			_, err := q.DisputesDue(ctx, db, &dbsqlc.DisputesDueParams{Most: 26})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &explainer{conn: testdb.Connect(t, testdb.With(t, url, "plan_cache_mode", "force_custom_plan"))}
			require.ErrorIs(t, c.ask(t.Context(), e), errExplained)
			e.uses(t, c.index)
		})
	}
}
