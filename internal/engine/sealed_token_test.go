package engine_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// sealedWith seals tokens as a text that a test can search for.
func sealedWith(mark string) func(*options) {
	return func(o *options) {
		o.Seal = func(token string, _ []byte) ([]byte, error) { return []byte(mark + token), nil }
		o.Open = func(sealed, _ []byte) (string, error) {
			return strings.TrimPrefix(string(sealed), mark), nil
		}
	}
}

// dump lists the tables in which a text is, as a dump has them: of bytes their digits.
func (r *env) dump(t *testing.T, text string) (found []string) {
	t.Helper()
	for _, table := range rows[string](t, r, "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1") {
		n := rows[int64](t, r, fmt.Sprintf("SELECT count(*) FROM %s x WHERE position($1 in x::text) > 0 OR position($2 in x::text) > 0", table), text, hex.EncodeToString([]byte(text)))
		if n[0] > 0 {
			found = append(found, table)
		}
	}
	return found
}

// backup lists the files that contain a text: the database's files that a base backup copies, or all files, and the log
// of writes since a position.
func (r *env) backup(t *testing.T, text, since string, all bool) []string {
	t.Helper()
	r.exec(t, "CHECKPOINT")
	return append(rows[string](t, r, `SELECT relname::text FROM pg_class
		WHERE relkind IN ('r', 'i', 't') AND (relpersistence = 'p' OR $2) AND pg_relation_size(oid) > 0
			AND position($1::bytea in pg_read_binary_file(pg_relation_filepath(oid))) > 0 ORDER BY 1`, []byte(text), all),
		rows[string](t, r, `SELECT 'wal ' || name FROM pg_ls_waldir()
		WHERE name BETWEEN pg_walfile_name($2::pg_lsn) AND pg_walfile_name(pg_current_wal_insert_lsn()) AND length(name) = 24
			AND position($1::bytea in pg_read_binary_file('pg_wal/' || name)) > 0 ORDER BY 1`, []byte(text), since)...)
}

// The token that a call needs to be made again is kept for that, and is gone when the attempt
// has ended or the call will not be made again: from the tables, from every row version that a
// backup copies, and from the log of writes, in which it never was.
func TestSealedToken(t *testing.T) {
	t.Parallel()
	t.Run("an attempt that has ended", func(t *testing.T) {
		t.Parallel()
		for name, end := range map[string]func(t *testing.T, r *env){
			"paid at once": func(t *testing.T, r *env) {
				t.Helper()
				r.paid(t, "A-1", "tok_success")
			},
			"declined at once": func(t *testing.T, r *env) {
				t.Helper()
				r.paid(t, "A-1", "tok_decline")
			},
			"named, and paid later": func(t *testing.T, r *env) {
				t.Helper()
				id := r.paid(t, "A-1", "tok_never").ID
				require.Empty(t, rows[string](t, r, "SELECT attempt_id::text FROM sealed_requests"), "nothing is sent again once the payment has a name")
				r.say(t, id, webhooks.KindSucceeded)
			},
			"unknown, and found": func(t *testing.T, r *env) {
				t.Helper()
				id := r.paid(t, "A-1", "tok_hang_charged").ID
				require.Equal(t, unknown, standingOf(r.attempt(t, id).Attempt))
				r.recheck(t, id)
			},
			"unknown, and told by a webhook": func(t *testing.T, r *env) {
				t.Helper()
				r.say(t, r.paid(t, "A-1", "tok_hang_not_charged").ID, webhooks.KindFailed)
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				endsWithoutToken(t, end)
			})
		}
	})
	t.Run("an attempt that nobody knows the end of", tokenIsPurged)
	t.Run("a token that is lost", lostToken)
}

func endsWithoutToken(t *testing.T, end func(t *testing.T, r *env)) {
	t.Helper()
	mark := "sealed-" + uuid.NewString()
	r := newEnv(t, setup{silent: true, change: sealedWith(mark)})
	since := rows[string](t, r, "SELECT pg_current_wal_insert_lsn()::text")[0]
	end(t, r)
	require.True(t, r.attempt(t, r.only(t)).State.Final())
	require.Empty(t, r.dump(t, mark))
	require.Empty(t, r.backup(t, mark, since, false), "a base backup, and the archive of the log")
	seen := r.only(t)
	require.Regexp(t, "payment_attempts .*wal ", strings.Join(r.backup(t, string(seen[:]), since, false), " "), "the search finds what is there")
	r.exec(t, "VACUUM sealed_requests") // the server does within a minute
	require.Empty(t, r.backup(t, mark, since, true), "a copy of all files")
}

// only is the attempt of an env that has one.
func (r *env) only(t *testing.T) payment.AttemptID {
	t.Helper()
	return payment.AttemptID(uuid.MustParse(rows[string](t, r, "SELECT attempt_id::text FROM payment_attempts")[0]))
}

func tokenIsPurged(t *testing.T) {
	t.Parallel()
	mark := "sealed-" + uuid.NewString()
	r := newEnv(t, setup{silent: true, change: sealedWith(mark), provider: (&spy{charge: func(context.Context, gateway.Charge, func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		return gateway.Outcome{}, errNoAnswer
	}}).on})
	id := r.paid(t, "A-1", "tok_success").ID
	purge := func() int {
		purger, ok := r.store.(interface {
			PurgeRequests(ctx context.Context, keep time.Duration, limit int) (int, error)
		})
		require.True(t, ok)
		n, err := purger.PurgeRequests(t.Context(), payment.ResendWindow, 10)
		require.NoError(t, err)
		return n
	}
	require.Zero(t, purge(), "it may have to be sent again")
	require.Equal(t, []string{"sealed_requests"}, r.dump(t, mark))
	r.exec(t, "UPDATE sealed_requests SET created_at = created_at - interval '11 minutes'")
	require.Equal(t, 1, purge())
	require.Empty(t, r.dump(t, mark))
	require.Equal(t, unknown, standingOf(r.attempt(t, id).Attempt))
}

// A server that crashed has lost only the tokens. A repeated request of the client brings its own token. Without it the
// payment is looked up.
func lostToken(t *testing.T) {
	t.Parallel()
	var calls int
	p := &spy{charge: func(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		if calls++; calls%2 == 1 {
			return gateway.Outcome{}, errNoAnswer
		}
		return send()
	}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	for order, again := range map[payment.OrderID]bool{"A-1": true, "A-2": false} {
		calls = 0
		id := r.paid(t, order, "tok_success").ID
		require.Equal(t, unknown, standingOf(r.attempt(t, id).Attempt))
		r.exec(t, "TRUNCATE sealed_requests")
		if again {
			r.exec(t, "UPDATE operations SET lease_until = now() - interval '1 second' WHERE open AND refund_id IS NULL") // as if its runner had died, too
			require.Equal(t, succeeded, standingOf(r.pay(t, order, "first-key", "tok_success").Attempt))
			require.Equal(t, 2, calls)
			continue
		}
		r.recheck(t, id)
		require.Equal(t, unknown, standingOf(r.attempt(t, id).Attempt), "not found yet, which proves nothing")
		require.Equal(t, 1, calls, "it can't be sent again")
	}
}
