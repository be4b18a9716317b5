package bulk_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// open opens n discrepancies of a kind. The text about is the name of each; with attempts, each has an attempt.
func (r *env) open(t *testing.T, n int, kind, about string, attempts bool) {
	t.Helper()
	_, err := r.db.Exec(t.Context(), `
		INSERT INTO discrepancies (discrepancy_id, kind, about, about_id, order_id, attempt_id, account, of_account, text, opened_at)
		SELECT ('01900000' || substr(md5($2 || i), 9))::uuid, $2, $3, CASE WHEN $4 THEN '' ELSE $2 || i END, CASE WHEN $4 THEN 'A-' || i END,
			CASE WHEN $4 THEN md5('a' || i)::uuid END, CASE WHEN $4 THEN '' ELSE 'acc' END, 'acc', 'why', '2026-03-01'::timestamptz + i * interval '1 minute'
		FROM generate_series(1, $1) i`, n, kind, about, attempts)
	require.NoError(t, err)
}

func all(r payment.Resolution) bulk.Order {
	return bulk.Order{Kind: bulk.Resolve, Resolution: r, Reason: reason, Filter: bulk.Filter{Account: "acc"}}
}

func TestResolveThreeHundredOfMixedKinds(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	r.attempts(t, 40)
	r.open(t, 150, "unmatched_event", "", false)
	r.open(t, 110, "event_changed", "content", false)
	r.open(t, 40, "needs_review", payment.AboutUnknownOutcome, true) // of pending attempts: they take paid or not_paid
	tried, err := r.bulk.Try(t.Context(), ada, all(payment.ResolvedAccepted))
	require.NoError(t, err)
	require.Equal(t, bulk.Counts{Total: 300, By: map[string]int64{"unmatched_event": 150, "event_changed": 110, "needs_review": 40}}, tried)

	j, err := r.bulk.Begin(t.Context(), ada, all(payment.ResolvedAccepted))
	require.NoError(t, err)
	// Another person resolves two of them first, one of them with another resolution.
	for i, as := range []string{"accepted", "refunded_elsewhere"} {
		_, err := r.db.Exec(t.Context(), `UPDATE discrepancies SET resolved_at = now(), resolved_by = 'eve', resolution = $2, reason = 'x'
			WHERE about_id = 'event_changed' || $1::int`, i+1, as)
		require.NoError(t, err)
	}
	j = r.through(t, r.runner(t), j.ID)
	require.Equal(t, bulk.Done, j.State)
	require.Equal(t, map[string]int64{
		"resolved": 258, "already_resolved": 1, "discrepancy-already-resolved": 1, "resolution-not-possible": 40,
	}, j.Results)
	require.Equal(t, int64(300), j.Done)
	require.Equal(t, 40, one[int](t, r, "SELECT count(*) FROM discrepancies WHERE resolved_at IS NULL"), "nothing is forced")
	require.Equal(t, 258, one[int](t, r, "SELECT count(*) FROM discrepancies WHERE resolved_by = 'ada' AND reason = $1 AND resolution = 'accepted'", reason))
	require.Equal(t, 258, one[int](t, r, "SELECT count(*) FROM outbox WHERE type = 'discrepancy.resolved'"))

	pending := bulk.Order{Kind: bulk.Resolve, Resolution: payment.ResolvedNotPaid, Reason: reason, Filter: bulk.Filter{Kind: "needs_review", Account: "acc"}}
	j, err = r.bulk.Begin(t.Context(), ada, pending)
	require.NoError(t, err)
	require.Equal(t, int64(40), j.Total, "the account of an attempt")
	require.Equal(t, map[string]int64{"awaiting_second": 40}, r.through(t, r.runner(t), j.ID).Results, "nobody can be asked")
	require.Zero(t, one[int](t, r, "SELECT count(*) FROM payment_attempts WHERE status = 'failed'"), "one person frees nothing")
	j, err = r.bulk.Begin(t.Context(), ada, pending)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"second-person-needed": 40}, r.through(t, r.runner(t), j.ID).Results)
	j, err = r.bulk.Begin(t.Context(), staff("kim", payment.RoleAdmin), pending)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"resolved": 40}, r.through(t, r.runner(t), j.ID).Results)
	require.Equal(t, 40, one[int](t, r, "SELECT count(*) FROM payment_attempts WHERE status = 'failed'"))
	require.Equal(t, []string{
		"ada discrepancies.resolve.view done", "ada discrepancies.resolve begun", "ada discrepancies.resolve done",
		"ada discrepancies.resolve begun", "ada discrepancies.resolve done",
		"ada discrepancies.resolve begun", "ada discrepancies.resolve done",
		"kim discrepancies.resolve begun", "kim discrepancies.resolve done",
	}, r.acts(t))
}

func TestWhoMayDoMany(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	order := all(payment.ResolvedAccepted)
	for name, do := range map[string]func(who support.Staff, o bulk.Order) error{
		"try":   func(who support.Staff, o bulk.Order) error { _, err := r.bulk.Try(t.Context(), who, o); return err },
		"begin": func(who support.Staff, o bulk.Order) error { _, err := r.bulk.Begin(t.Context(), who, o); return err },
	} {
		require.ErrorIs(t, do(sam, order), payment.ErrForbidden, name)
		require.ErrorIs(t, do(staff("shop", payment.RoleService), unmatched()), payment.ErrForbidden, name)
		require.ErrorIs(t, do(staff("u1", payment.RoleCustomer), order), payment.ErrForbidden, name)
		blank := unmatched()
		blank.Reason = " \t"
		require.Equal(t, "reason", field(t, do(ada, blank)), name)
		require.NoError(t, do(sam, unmatched()), name)
	}
	require.Equal(t, 2, one[int](t, r, "SELECT count(*) FROM staff_audit WHERE outcome = 'refused' AND actor = 'sam'"))
	require.Equal(t, 1, one[int](t, r, "SELECT count(*) FROM support_jobs"))
	for _, who := range []support.Staff{staff("shop", payment.RoleService), {}} {
		_, err := r.bulk.Job(t.Context(), who, uuid.New())
		require.ErrorIs(t, err, payment.ErrForbidden)
	}
}

func field(t *testing.T, err error) string {
	t.Helper()
	var invalid *payment.ValidationError
	require.ErrorAs(t, err, &invalid)
	return invalid.Fields[0].Field
}

func TestFilter(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	events := func(f bulk.Filter) bulk.Order { return bulk.Order{Kind: bulk.Replay, Filter: f, Reason: reason} }
	open := func(f bulk.Filter) bulk.Order {
		return bulk.Order{Kind: bulk.Resolve, Filter: f, Resolution: payment.ResolvedAccepted, Reason: reason}
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	paid := all(payment.ResolvedPaid)
	for name, c := range map[string]struct {
		order bulk.Order
		field string
	}{
		"none of events":        {events(bulk.Filter{}), "filter"},
		"none of discrepancies": {open(bulk.Filter{}), "filter"},
		"verdict":               {events(bulk.Filter{Verdict: "lost"}), "filter.verdict"},
		"duplicates are none":   {events(bulk.Filter{Verdict: "duplicate"}), "filter.verdict"},
		"kind":                  {open(bulk.Filter{Kind: "lost"}), "filter.kind"},
		"no text":               {events(bulk.Filter{Type: "a\x00"}), "filter.type"},
		"long":                  {open(bulk.Filter{Account: strings.Repeat("a", 513)}), "filter.account"},
		"no time between":       {events(bulk.Filter{Since: &noon, Until: &noon}), "filter.received_to"},
		"nor here":              {open(bulk.Filter{Since: &noon, Until: &noon}), "filter.opened_to"},
		"paid":                  {paid, "resolution"},
		"no resolution":         {all(""), "resolution"},
	} {
		_, err := r.bulk.Try(t.Context(), ada, c.order)
		require.Equal(t, c.field, field(t, err), name)
		_, err = r.bulk.Begin(t.Context(), ada, c.order)
		require.Equal(t, c.field, field(t, err), name)
	}
	for text, want := range map[string]string{
		"2026-03-01T12:00": "2026-03-01T12:00:00Z", "2026-03-01T12:00:01": "2026-03-01T12:00:01Z", "2026-03-01T14:00:00.5+02:00": "2026-03-01T12:00:00.5Z",
	} {
		o, err := events(bulk.Filter{}).Between(text, "")
		require.NoError(t, err)
		require.Equal(t, map[string]string{"received_from": want}, o.Filter.Members(bulk.Replay))
	}
	_, err := events(bulk.Filter{}).Between("", "yesterday")
	require.Equal(t, "filter.received_to", field(t, err))
	_, err = open(bulk.Filter{}).Between("1 March", "")
	require.Equal(t, "filter.opened_from", field(t, err))

	r.open(t, 10, "unmatched_event", "", false)
	at := func(minutes int) *time.Time {
		at := time.Date(2026, 3, 1, 0, minutes, 0, 0, time.UTC)
		return &at
	}
	r.parked(t, 10)
	_, err = r.db.Exec(t.Context(), `UPDATE provider_events SET event_id = ('019ca6c0' || substr(md5(provider_event_id), 9))::uuid,
		received_at = '2026-03-01'::timestamptz + substr(provider_event_id, 5)::int * interval '1 minute'`)
	require.NoError(t, err)
	for _, kind := range []func(bulk.Filter) bulk.Order{events, open} {
		for name, c := range map[string]struct {
			filter bulk.Filter
			total  int64
		}{
			"account":         {bulk.Filter{Account: "acc"}, 10},
			"another account": {bulk.Filter{Account: "ac"}, 0},
			"from":            {bulk.Filter{Since: at(4)}, 7},
			"before":          {bulk.Filter{Until: at(4)}, 3},
			"half-open":       {bulk.Filter{Account: "acc", Since: at(4), Until: at(6)}, 2},
		} {
			got, err := r.bulk.Try(t.Context(), ada, kind(c.filter))
			require.NoError(t, err)
			require.Equal(t, c.total, got.Total, name)
			j, err := r.bulk.Begin(t.Context(), ada, kind(c.filter))
			require.NoError(t, err)
			require.Equal(t, c.total, j.Total, name)
			_, err = r.bulk.Stop(t.Context(), ada, j.ID, reason)
			require.NoError(t, err)
		}
	}
	for filter, total := range map[bulk.Filter]int64{
		{Verdict: "unmatched"}: 10, {Verdict: "applied"}: 0, {Type: "charge.succeeded"}: 10, {Type: "charge"}: 0,
	} {
		got, err := r.bulk.Try(t.Context(), ada, events(filter))
		require.NoError(t, err)
		require.Equal(t, total, got.Total)
	}
	j, err := r.bulk.Begin(t.Context(), ada, events(bulk.Filter{Since: at(4), Until: at(6)}))
	require.NoError(t, err)
	r.parkedLater(t)
	require.Equal(t, map[string]int64{"unmatched": 2}, r.through(t, r.runner(t), j.ID).Results, "and none that came later")
}

// parkedLater is an event that comes once a job is running, with a time that the filter would take.
func (r *env) parkedLater(t *testing.T) {
	t.Helper()
	_, err := r.db.Exec(t.Context(), `INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news, refs, verdict, received_at)
		SELECT 'ffffffff-ffff-7fff-8fff-ffffffffffff', account, 'later', id_derived, event_type, kind, digest, news, refs, verdict, received_at
		FROM provider_events WHERE provider_event_id = 'evt_4'`)
	require.NoError(t, err)
}
