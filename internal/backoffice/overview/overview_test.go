package overview_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/overview"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
)

// TestCount: whoever counts, and however often they stop, each event is counted once.
func TestCount(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	const batches, each = 450, 3 // more than two portions
	for range batches {
		e.publish(t, slices.Concat(
			ended("acc", "EUR", "", 1000, now), ended("acc", "EUR", "card_declined", 1000, now.Add(-30*time.Hour)), []outbox.Message{opened(payment.LateSuccess, now)})...)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for n := int64(1); n > 0; {
				_, err := e.Count(t.Context())
				if err == nil {
					n, err = e.store.Uncounted(t.Context())
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	e.count(t)
	rows, err := e.db.Query(t.Context(), `SELECT subject || ' ' || status || ' ' || code || ' ' || count || ' ' || amount FROM hourly_outcomes ORDER BY 1`)
	require.NoError(t, err)
	counted, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{"attempt failed card_declined 450 450000", "attempt succeeded  450 405000", "discrepancy opened late_success 450 0"}, counted)
	require.Equal(t, map[string]int64{"attempt acc succeeded ": 450, "discrepancy  opened late_success": 450}, e.added, "what is caught up on is left out")
}

// TestCount_begins: a batch without a position is not counted before it has one, and purged events are passed over.
func TestCount_begins(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.publish(t, ended("acc", "EUR", "", 1000, now)...)
	e.publish(t, ended("acc", "EUR", "", 1000, now)...)
	e.exec(t, `DELETE FROM outbox WHERE batch = 1`)
	e.exec(t, `DELETE FROM outbox_batches WHERE batch = 1`)
	e.exec(t, `INSERT INTO outbox_batches (batch, events, created_at) VALUES (9, 1, now())`)
	e.count(t)
	o, err := e.Read(t.Context())
	require.NoError(t, err)
	require.Zero(t, o.Uncounted)
	require.EqualValues(t, 1, o.Hours[23].Succeeded)
}

func TestRead(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	day := 24 * time.Hour
	var events []outbox.Message
	for _, one := range []struct {
		times                   int
		account, currency, code string
		at                      time.Time
	}{
		{3, "acc", "EUR", "", now},
		{1, "acc", "EUR", "card_declined", now},
		{2, "acc", "EUR", "canceled", now},
		{1, "acc", "JPY", "", now.Add(-time.Hour)},
		{1, "bank", "EUR", "expired", now.Add(-23 * time.Hour)},
		{5, "acc", "EUR", "", now.Add(-3 * day)},
		{8, "acc", "EUR", "", now.Add(-8 * day)},
		{2, "acc", "EUR", "not_started", now.Add(-13 * day)},
		{7, "acc", "EUR", "", now.Add(-15 * day)},
	} {
		for range one.times {
			events = append(events, ended(one.account, one.currency, one.code, 1100, one.at)...)
		}
	}
	events = append(events, refunded("EUR", 300, false, now), refunded("EUR", 200, false, now), refunded("JPY", 5, false, now), refunded("EUR", 100, true, now),
		refunded("EUR", 900, false, now.Add(-25*time.Hour)))
	e.publish(t, events...)
	e.count(t)
	o, err := e.Read(t.Context())
	require.NoError(t, err)

	require.Len(t, o.Hours, 24)
	require.Equal(t, overview.Hour{
		From: now.Truncate(time.Hour), Succeeded: 3, Failed: 1, Cancelled: 2, Volume: []payment.Money{{Minor: 3000, Currency: "EUR"}},
	}, o.Hours[23])
	require.Equal(t, []payment.Money{{Minor: 1000, Currency: "JPY"}}, o.Hours[22].Volume)
	require.EqualValues(t, 1, o.Hours[0].Failed)
	type share = overview.Share
	require.Equal(t, []overview.Approval{
		{Name: "acc", Day: share{4, 5}, Week: share{9, 10}, Before: share{8, 10}},
		{Name: "bank", Day: share{0, 1}, Week: share{0, 1}},
	}, o.Accounts)
	require.Equal(t, []overview.Approval{
		{Name: "EUR", Day: share{3, 5}, Week: share{8, 10}, Before: share{8, 10}},
		{Name: "JPY", Day: share{1, 1}, Week: share{1, 1}},
	}, o.Currencies)
	require.Equal(t, overview.Refunds{Succeeded: 3, Failed: 1, Sums: []payment.Money{{Minor: 500, Currency: "EUR"}, {Minor: 5, Currency: "JPY"}}}, o.Refunds)
	require.Zero(t, o.Unknown.Total)
	require.Empty(t, o.Cases)
}

func TestRead_open(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for _, one := range []struct {
		account, kind, state string
		ago                  time.Duration
	}{
		{"acc", "charge", "unknown", time.Second},
		{"acc", "capture", "unknown", 5 * time.Minute},
		{"acc", "charge", "unknown", 6 * time.Minute},
		{"acc", "charge", "accepted", 5 * time.Minute},
		{"bank", "cancel", "unknown", 30 * time.Minute},
		{"bank", "refund", "unknown", 5 * time.Hour},
		{"bank", "refund", "accepted", 5 * time.Hour},
		{"acc", "charge", "unknown", 50 * time.Hour},
		{"acc", "check", "unknown", 2 * time.Hour}, // looks, and changes nothing
	} {
		e.operation(t, one.account, one.kind, one.state, one.ago)
	}
	e.exec(t, `INSERT INTO discrepancies (discrepancy_id, kind, text, opened_at) VALUES (gen_random_uuid(), 'disputed', 'x', now() - interval '1 hour'),
		(gen_random_uuid(), 'late_success', 'x', now() - interval '2 hours'), (gen_random_uuid(), 'event_changed', 'x', now() - interval '9 hours')`)
	e.exec(t, `UPDATE discrepancies SET resolved_at = now(), resolution = 'accepted' WHERE kind = 'event_changed'`)
	e.stale = []intake.StaleAccount{{Account: "bank", Pending: 3, Since: now}}
	e.endpoints = []endpoint.Status{{Name: "shop", Behind: 4, Retries: 3, Dead: 2, Oldest: now.Add(-time.Minute)}, {Name: "old", State: endpoint.Gone}}
	e.held, e.breakers = []string{"bank", "manual"}, map[string]float64{"acc": 2, "bank": 1, "well": 0}
	o, err := e.Read(t.Context())
	require.NoError(t, err)

	require.EqualValues(t, 6, o.Unknown.Total)
	require.WithinDuration(t, time.Now().Add(-50*time.Hour), o.Unknown.Oldest, time.Minute)
	require.Equal(t, []overview.UnknownOf{
		{Account: "acc", Ages: map[overview.Band]int64{overview.UnderMinute: 1, overview.UnderTenMinutes: 2, overview.Older: 1}},
		{Account: "bank", Ages: map[overview.Band]int64{overview.UnderHour: 1, overview.UnderDay: 1}},
	}, o.Unknown.Accounts)
	require.EqualValues(t, 2, o.Unknown.Age(overview.UnderTenMinutes))
	require.False(t, o.Unknown.More)
	require.EqualValues(t, 2, o.Refunds.Pending)
	require.Equal(t, []string{"late_success", "disputed"}, []string{o.Cases[0].Kind, o.Cases[1].Kind}, "the oldest first, and nothing that is resolved")
	require.InDelta(t, 2*time.Hour, o.Cases[0].Oldest, float64(time.Minute))
	require.Equal(t, e.stale, o.Silent)
	require.Equal(t, []overview.Endpoint{{Name: "shop", Behind: 4, Retries: 3, Dead: 2, Oldest: time.Minute}, {Name: "old", Gone: true}}, o.Endpoints)
	require.Equal(t, []overview.Standing{
		{Account: "acc", Breaker: overview.Open},
		{Account: "bank", Breaker: overview.HalfOpen, Held: true},
		{Account: "manual", Breaker: overview.Closed, Held: true},
		{Account: "well", Breaker: overview.Closed},
	}, o.Standing)
	ages, err := e.UnknownByAge(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"minute": 0, "ten_minutes": 0, "hour": 1, "day": 1, "older": 0}, ages["bank"])
}

// TestRead_shared: twenty callers within a few seconds cost one read.
func TestRead_shared(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := e.Read(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, e.store.reads.Load())
	e.later(6 * time.Second)
	_, err := e.Read(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, e.store.reads.Load())
}

// TestOverview: each call stands in the audit log, and a page that is open once an hour.
func TestOverview(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	sam := staff("sam", payment.RoleSupport)
	entries := func() (n int) {
		require.NoError(t, e.db.QueryRow(t.Context(), `SELECT count(*) FROM staff_audit WHERE actor = 'sam' AND action = 'overview.view' AND outcome = 'done'`).Scan(&n))
		return n
	}
	for range 2 {
		_, err := e.Overview(t.Context(), sam)
		require.NoError(t, err)
	}
	require.Equal(t, 2, entries())
	for _, step := range []struct {
		later time.Duration
		want  int
	}{{30 * time.Second, 2}, {30 * time.Minute, 2}, {30 * time.Minute, 3}, {time.Minute, 3}} {
		e.later(step.later)
		_, err := e.Glance(t.Context(), sam)
		require.NoError(t, err)
		require.Equal(t, step.want, entries(), step)
	}
	for _, role := range []payment.Role{payment.RoleService, payment.RoleCustomer} {
		_, err := e.Overview(t.Context(), staff("eve", role))
		require.ErrorIs(t, err, payment.ErrForbidden)
		_, err = e.Glance(t.Context(), staff("eve", role))
		require.ErrorIs(t, err, payment.ErrForbidden)
	}
}

func TestApproval_Change(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		day, before overview.Share
		points      float64
		ok          bool
	}{
		"above":       {overview.Share{Succeeded: 96, Ended: 100}, overview.Share{Succeeded: 90, Ended: 100}, 6, true},
		"below":       {overview.Share{Succeeded: 10, Ended: 20}, overview.Share{Succeeded: 20, Ended: 20}, -50, true},
		"few_now":     {overview.Share{Succeeded: 10, Ended: 19}, overview.Share{Succeeded: 20, Ended: 20}, 0, false},
		"few_before":  {overview.Share{Succeeded: 10, Ended: 20}, overview.Share{Succeeded: 19, Ended: 19}, 0, false},
		"none_at_all": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			points, ok := overview.Approval{Day: tt.day, Before: tt.before}.Change()
			require.InDelta(t, tt.points, points, 0.001)
			require.Equal(t, tt.ok, ok)
		})
	}
}
