package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/payment"
)

// inTwoCells is the environment of the databases of cells 0 and 1, and both.
func inTwoCells(t *testing.T) (environ []string, all []*pgxpool.Pool) {
	t.Helper()
	dsns := []string{testdb.New(t), testdb.New(t)}
	for _, dsn := range dsns {
		db, err := pgxpool.New(t.Context(), dsn)
		require.NoError(t, err)
		t.Cleanup(db.Close)
		all = append(all, db)
	}
	const account = "{name: %s, cell: %d, kind: sandbox, base_url: 'http://127.0.0.1:1', webhook_secrets: [whsec_c2VjcmV0IG9mIDI0IGJ5dGVzIGF0IGxlYXN0]}"
	return []string{
		"PAYLATCH_DATABASE_URL=" + dsns[0], boxKeys, fmt.Sprintf("PAYLATCH_CELLS=[{number: 1, database_url: %q, order_prefixes: [eu-]}]", dsns[1]),
		"PAYLATCH_ACCOUNTS=[" + fmt.Sprintf(account, "home", 0) + ", " + fmt.Sprintf(account, "eu", 1) + "]",
	}, all
}

// TestEraseInEachCell: orders of one customer are in both cells, and all of them get a pseudonym, also if the customer's id has a cell in
// its bits. A cell with an order that is under way makes the command fail, and does not keep the others from the erasure.
func TestEraseInEachCell(t *testing.T) {
	t.Parallel()
	environ, all := inTwoCells(t)
	for i, flag := range []string{"--user ", "--user="} {
		user := payment.Cell(1).NewID().String()
		for n, db := range all {
			_, err := db.Exec(t.Context(), `INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
				VALUES ($1, $2, $1, '\x01', 1999, 'EUR', now(), now())`, fmt.Sprintf("%sA-%d", []string{"", "eu-"}[n], i), user)
			require.NoError(t, err)
		}
		erased := func(args ...string) (code int, stdout, stderr string) {
			return run(t, environ, append(append([]string{"erase"}, strings.Fields(flag+user)...), args...)...)
		}
		code, stdout, stderr := erased("--dry-run")
		require.Zero(t, code, stderr)
		require.Equal(t, 2, strings.Count(stdout, "1 orders would get a pseudonym"), stdout)
		if i > 0 {
			_, err := all[0].Exec(t.Context(), `WITH a AS (
				INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency, created_at, updated_at)
					SELECT order_id, gen_random_uuid(), user_id, 'r', '\x01', 'home', 'pending', 'requested', amount, currency, now(), now() FROM orders WHERE user_id = $1
					RETURNING order_id, attempt_id)
				INSERT INTO operations (order_id, attempt_id, kind, number, account, origin, state, sends, fence, next_at, created_at)
					SELECT order_id, attempt_id, 'charge', 0, 'home', 'request', 'accepted', 1, 1, now(), now() FROM a`, user)
			require.NoError(t, err)
		}
		code, stdout, stderr = erased()
		require.Equal(t, i, code, stderr)
		require.Equal(t, i > 0, strings.Contains(stderr, "cell 0: 1 orders and 0 commands still have the name"), stderr)
		require.Contains(t, stderr, "cell 1: done")
		require.Equal(t, 2, strings.Count(stdout, "the name was removed from "), stdout)
		for n, db := range all[i:] {
			var left int
			require.NoError(t, db.QueryRow(t.Context(), "SELECT count(*) FROM orders WHERE user_id = $1", user).Scan(&left))
			require.Zero(t, left, "the database %d after %d", n, i)
		}
	}
}

// TestACommandNeedsItsCell: no command on the data of one cell takes cell 0 for all of them.
func TestACommandNeedsItsCell(t *testing.T) {
	t.Parallel()
	environ, _ := inTwoCells(t)
	event := payment.Cell(1).NewID().String()
	for _, args := range [][]string{
		{"discrepancy", "list"},
		{"discrepancy", "list", "--kind", event},
		{"verify", "--head", "1:" + strings.Repeat("0", 64)},
		{"endpoint", "list"},
		{"endpoint", "test", "shop"},
		{"endpoint", "redeliver", "shop", "--after", ""},
		{"endpoint", "redeliver", "shop", "--id", event},
	} {
		code, stdout, stderr := run(t, environ, args...)
		require.Equal(t, 2, code, "%v: %s", args, stderr)
		require.Empty(t, stdout, args)
		require.Contains(t, stderr, "--cell: is missing; this command acts in one cell, and there are 0, 1", args)
	}
	for _, args := range [][]string{{"discrepancy", "list"}, {"endpoint", "list"}} {
		code, _, stderr := run(t, environ, append(args, "--cell", "1")...)
		require.Zero(t, code, "%v: %s", args, stderr)
	}
	for _, args := range [][]string{{"refund", "create", "--reason", "r", "--key", payment.Cell(0).NewID().String(), event}, {"attempt", "show", event}} {
		code, _, stderr := run(t, environ, args...)
		require.Equal(t, 1, code, "%v: %s", args, stderr)
		require.Contains(t, stderr, "not found", args)
	}
}
