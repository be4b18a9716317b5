package engine_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/ledger/verify"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
)

// movement is an entry of the sandbox's ledger.
type movement struct {
	Kind      string `json:"kind"`
	Reference string `json:"reference"`
	Key       string `json:"idempotency_key"`
	Amount    int64  `json:"amount"`
}

// ledger lists the movements of the sandbox.
func (r *env) ledger(t *testing.T) []movement {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.box+"/v1/ledger", http.NoBody)
	require.NoError(t, err)
	req.Close = true
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	defer res.Body.Close()
	var all []movement
	require.NoError(t, json.NewDecoder(res.Body).Decode(&all))
	return all
}

// rows reads one column.
func rows[T any](t *testing.T, r *env, sql string, args ...any) []T {
	t.Helper()
	found, err := r.db.Query(t.Context(), sql, args...)
	require.NoError(t, err)
	all, err := pgx.CollectRows(found, pgx.RowTo[T])
	require.NoError(t, err)
	return all
}

func (r *env) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := r.db.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// discrepancies lists the kinds that an attempt has open.
func (r *env) discrepancies(t *testing.T, id payment.AttemptID) []string {
	t.Helper()
	return rows[string](t, r, "SELECT kind FROM discrepancies WHERE attempt_id = $1 ORDER BY kind", id.String())
}

// verdicts lists the verdicts of an attempt's events, in the order of their arrival.
func (r *env) verdicts(t *testing.T, id payment.AttemptID) []string {
	t.Helper()
	return rows[string](t, r, "SELECT verdict FROM provider_events WHERE attempt_id = $1 ORDER BY received_at, event_id", id.String())
}

// updates lists the types of an attempt's outbox messages.
func (r *env) updates(t *testing.T, id payment.AttemptID) []string {
	t.Helper()
	return rows[string](t, r, "SELECT type FROM outbox WHERE attempt_id = $1 ORDER BY version", id.String())
}

// age makes an attempt older; a lease on it ends, too.
func (r *env) age(t *testing.T, id payment.AttemptID, by time.Duration) {
	t.Helper()
	r.exec(t, `WITH a AS (UPDATE payment_attempts SET created_at = created_at - $2::interval WHERE attempt_id = $1)
		UPDATE operations SET created_at = created_at - $2::interval, first_sent_at = first_sent_at - $2::interval, lease_until = lease_until - $2::interval,
			next_at = next_at - $2::interval WHERE attempt_id = $1`, id.String(), by)
}

// audit asserts the invariants of every order at every time. It has one live attempt at most. Each attempt follows from
// its log. It has at most one charge, and the attempts show it, unless a discrepancy is open.
func (r *env) audit(t *testing.T, order payment.OrderID) {
	t.Helper()
	o, err := r.store.Order(t.Context(), order)
	require.NoError(t, err)
	live, charges := 0, 0
	for _, a := range o.Attempts {
		if !a.Failed() {
			live++
		}
		r.auditLog(t, a)
		var taken int64
		for _, m := range r.ledger(t) {
			if m.Kind == "charge" && m.Reference == a.ID.String() {
				charges++
				taken += m.Amount
			}
		}
		if a.State.Final() {
			require.Equal(t, taken, a.Captured+r.opsView(t, a).Reversed, "attempt %s and the ledger", a.ID)
		}
	}
	require.LessOrEqual(t, live, 1)
	require.LessOrEqual(t, charges, 1)
	for _, d := range r.verify(t) {
		// Tests let time pass by changing times.
		require.True(t, d.OrderID != order || d.Check == "times_follow_log", "%+v", d)
	}
}

// archiveOf is the archive that verify reads, of a store without a wrapper.
func archiveOf(s store) verify.Archive { return s.(*postgres.Store).Evidence() }

// verify derives the whole database again, a few attempts at a time.
func (r *env) verify(t *testing.T) []verify.Difference {
	t.Helper()
	var all []verify.Difference
	archive := archiveOf(r.store)
	for after := (payment.AttemptID{}); ; {
		v, err := verify.Verify(t.Context(), archive, after, 7, false)
		require.NoError(t, err)
		all = append(all, v.Differences...)
		if v.Attempts == 0 {
			return all
		}
		after = v.Last
	}
}

func (r *env) auditLog(t *testing.T, a payment.Attempt) {
	t.Helper()
	type entry struct {
		Version           int
		From, To, Payment string
		Captured          int64
	}
	found, err := r.db.Query(t.Context(), `SELECT version, from_stage, to_stage, coalesce(detail->>'provider_payment_id', '') AS payment,
		coalesce((detail->>'captured')::bigint, 0) AS captured FROM attempt_transitions WHERE attempt_id = $1 ORDER BY version`, a.ID.String())
	require.NoError(t, err)
	log, err := pgx.CollectRows(found, pgx.RowToStructByPos[entry])
	require.NoError(t, err)
	require.Len(t, log, a.Version, "one entry for each version")
	for i, e := range log {
		require.Equal(t, i+1, e.Version)
		require.Equal(t, log[max(0, i-1)].To, e.From, "no gap at version %d", e.Version)
	}
	last := log[len(log)-1]
	require.Equal(t, entry{a.Version, last.From, string(a.State), a.ProviderPaymentID, a.Captured}, last)
}
