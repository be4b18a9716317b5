package main_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// TestJournal: the journal of a month, of all accounts or of one, the same at each call; a wrong month is a usage error.
func TestJournal(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	attempts(t, dsn, 2)
	conn := testdb.Connect(t, dsn)
	for _, sql := range []string{
		`INSERT INTO money_movements (order_id, attempt_id, number, account, kind, source, amount, currency, cause, at, recorded_at)
			SELECT order_id, attempt_id, 1, account, 'capture', 'total', amount, currency, 'webhook', '2026-10-31T23:59:59.999999Z', '2026-11-02T00:00:00Z' FROM payment_attempts`,
		`INSERT INTO settlements (account, entry_id, order_id, attempt_id, kind, movement_id, payment, amount, currency, fee, net, balance_currency, payout_id, at, recorded_at)
			SELECT 'other', 'e-' || order_id AS e, order_id, attempt_id, 'capture', '', 'pp', amount, currency, 99, 1900, 'EUR', 'po_1', '2026-10-01T00:00:00Z', now() FROM payment_attempts`,
		`INSERT INTO payouts (payout_id, account, provider_payout_id, amount, currency, status, arrives_on, created_at, updated_at)
			VALUES (gen_random_uuid(), 'other', 'po_1', 3800, 'EUR', 'paid', '2026-10-06', now(), now())`,
	} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	environ := []string{"PAYLATCH_DATABASE_URL=" + dsn, "PAYLATCH_ACCOUNTS=[{name: a, kind: sandbox, base_url: 'http://127.0.0.1:1'}]"}
	code, text, stderr := run(t, environ, "journal", "--month", "2026-10")
	require.Equal(t, 0, code, stderr)
	require.Empty(t, stderr)
	for want, times := range map[string]int{
		"2026-10-31 * (": 2, "2026-10-01 * (": 2, "2026-10-06 * (": 1, "income:sales                                              -19.99 EUR\n": 2,
		"assets:bank:payouts                                        38.00 EUR\n": 1, "equity:unexplained": 0,
	} {
		require.Equal(t, times, strings.Count(text, want), "%s in %s", want, text)
	}
	_, again, _ := run(t, environ, "journal", "--month", "2026-10")
	require.Equal(t, text, again)
	code, text, _ = run(t, environ, "journal", "--month", "2026-10", "--account", "a", "--format", "csv")
	require.Equal(t, 0, code)
	require.Equal(t, 1+2*2, strings.Count(text, "\n"), text)
	_, text, _ = run(t, environ, "journal", "--month", "2026-09", "--format", "json")
	require.Empty(t, text)

	next := time.Now().UTC().AddDate(0, 2, 0).Format("2006-01")
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--month", "10/2026"}, `--month: "10/2026" is not a month: write the year and the month, such as 20`},
		{[]string{"--month", next}, `--month: "` + next + `" has not begun: the latest is `},
		{[]string{"--month", "2026-10", "--account", "b"}, `--account: "b" is not configured; leave it out for all accounts`},
		{[]string{"--month", "2026-10", "--format", "xml"}, "--format must be one of"},
		{nil, "--month"},
	} {
		code, stdout, stderr := run(t, environ, append([]string{"journal"}, tc.args...)...)
		require.Equal(t, 2, code, tc.args)
		require.Empty(t, stdout)
		require.Contains(t, stderr, tc.want)
	}
}
