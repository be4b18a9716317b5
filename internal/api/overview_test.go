package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/backoffice/overview"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
)

var _ api.Overview = (*overview.Service)(nil)

func (d *desk) Overview(_ context.Context, who support.Staff) (overview.Overview, error) {
	share := overview.Share{Succeeded: 3, Ended: 4}
	return overview.Overview{
		At: now, Uncounted: 2,
		Hours:    []overview.Hour{{From: now.Truncate(time.Hour), Succeeded: 3, Failed: 1, Cancelled: 2, Volume: []payment.Money{{Minor: 1999, Currency: "EUR"}}}},
		Accounts: []overview.Approval{{Name: hostile, Day: share, Week: share}}, Currencies: []overview.Approval{{Name: "EUR", Week: share, Before: share}},
		Unknown: overview.Unknown{Total: 1, Oldest: now, Accounts: []overview.UnknownOf{{Account: "acc", Ages: map[overview.Band]int64{overview.UnderHour: 1}}}},
		Cases:   []overview.Cases{{Kind: "disputed", Count: 2, Oldest: time.Hour}},
		Refunds: overview.Refunds{Succeeded: 1, Failed: 2, Pending: 3, Sums: []payment.Money{{Minor: 500, Currency: "EUR"}}},
		Silent:  []intake.StaleAccount{{Account: "acc", Pending: 4, Since: now}}, Standing: []overview.Standing{{Account: "acc", Breaker: overview.Open, Held: true}},
		Endpoints: []overview.Endpoint{{Name: "shop", Behind: 5, Retries: 6, Dead: 7, Oldest: time.Minute}, {Name: "old", Gone: true}},
	}, d.call(who, "overview", "")
}

func TestSupportOverview(t *testing.T) {
	t.Parallel()
	b, _ := newDesk(t)
	const at = "2026-03-01T09:30:00.120000Z"
	share, none := map[string]any{"succeeded": 3.0, "ended": 4.0, "rate": 0.75}, map[string]any{"succeeded": 0.0, "ended": 0.0, "rate": nil}
	ages := map[string]any{"under_1m": 0.0, "under_10m": 0.0, "under_1h": 1.0, "under_1d": 0.0, "older": 0.0}
	require.Equal(t, map[string]any{
		"at": at, "uncounted_events": 2.0,
		"hours": []any{map[string]any{
			"from": "2026-03-01T09:00:00.000000Z", "succeeded": 3.0, "failed": 1.0, "canceled": 2.0, "volume": []any{map[string]any{"amount": 1999.0, "currency": "EUR"}},
		}},
		"approval_by_account":  []any{map[string]any{"account": hostile, "day": share, "week": share, "week_before": none}},
		"approval_by_currency": []any{map[string]any{"currency": "EUR", "day": none, "week": share, "week_before": share}},
		"unknown_outcomes": map[string]any{
			"total": 1.0, "oldest_at": at, "complete": true, "ages": ages, "accounts": []any{map[string]any{"account": "acc", "ages": ages}},
		},
		"discrepancies":   []any{map[string]any{"kind": "disputed", "count": 2.0, "oldest_seconds": 3600.0}},
		"refunds":         map[string]any{"succeeded": 1.0, "failed": 2.0, "pending": 3.0, "sums": []any{map[string]any{"amount": 500.0, "currency": "EUR"}}},
		"silent_accounts": []any{map[string]any{"account": "acc", "pending": 4.0, "since": at, "last_webhook_at": nil}},
		"accounts":        []any{map[string]any{"account": "acc", "breaker": "open", "held": true}},
		"endpoints": []any{
			map[string]any{"name": "shop", "state": "active", "behind": 5.0, "retries": 6.0, "dead": 7.0, "oldest_undelivered_seconds": 60.0},
			map[string]any{"name": "old", "state": "gone", "behind": 0.0, "retries": 0.0, "dead": 0.0, "oldest_undelivered_seconds": 0.0},
		},
	}, b.send(http.MethodGet, "/v1/support/overview", "", "Authorization: Bearer support").object(t))
}
