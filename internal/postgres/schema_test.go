package postgres_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// promise is one guarantee of the schema: the statement that breaks it, the constraint or trigger that refuses, and the
// nearest statement that is allowed. The allowed statement proves that the first one was refused for no other reason.
type promise struct {
	name       string
	given      string
	breaks     string
	code       string
	constraint string
	allowed    string
}

// The SQLSTATEs of refusals.
const (
	violated = "23000" // by a trigger
	foreign  = "23503"
	unique   = "23505"
	check    = "23514"
)

func TestSchemaKeepsItsPromises(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	for _, p := range promises() {
		t.Run(strings.ReplaceAll(p.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			tx, err := testdb.Connect(t, url).Begin(t.Context())
			require.NoError(t, err)
			run(t, tx, stage)
			run(t, tx, p.given)

			// Deferred constraints are checked now, and then after each statement.
			run(t, tx, "SET CONSTRAINTS ALL IMMEDIATE; SAVEPOINT before")
			_, err = tx.Exec(t.Context(), names.Replace(p.breaks))
			var refused *pgconn.PgError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, [2]string{p.code, p.constraint}, [2]string{refused.Code, refused.ConstraintName}, refused)

			run(t, tx, "ROLLBACK TO before")
			require.Positive(t, run(t, tx, p.allowed), "the twin touches no row")
		})
	}
}

// TestSchemaPromisesAreAllTried fails for a constraint that no promise speaks
// of.
func TestSchemaPromisesAreAllTried(t *testing.T) {
	t.Parallel()
	rows, err := testdb.Connect(t, testdb.New(t)).Query(t.Context(), `
		SELECT conname FROM pg_constraint JOIN pg_class c ON c.oid = conrelid
		WHERE contype IN ('c', 'u', 'p') AND connamespace = 'public'::regnamespace AND c.relkind <> 'p' AND relname !~ '^(goose|river|event_bytes_[0-9])'
		UNION SELECT c.relname FROM pg_index JOIN pg_class c ON c.oid = indexrelid
		WHERE indisunique AND c.relnamespace = 'public'::regnamespace AND c.relkind <> 'I' AND c.relname !~ '^(goose|river|event_bytes_[0-9])'
		UNION SELECT m[1] FROM pg_proc, regexp_matches(prosrc, 'CONSTRAINT = ''(\w+)''', 'g') m
		WHERE pronamespace = 'public'::regnamespace
		UNION SELECT regexp_replace(tgname, '_stays$', '_append_only') FROM pg_trigger WHERE tgfoid = 'append_only'::regproc`)
	require.NoError(t, err)
	there, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	tried := promises()
	for _, constraint := range there {
		require.True(t, slices.ContainsFunc(tried, func(p promise) bool { return p.constraint == constraint }), "no promise tries %s", constraint)
	}
}

func promises() []promise {
	return slices.Concat(orderPromises(), attemptPromises(), attemptMoves(), operationPromises(), operationMoves(), logPromises(), movementPromises(), refundPromises(), disputePromises(), disputeMovePromises(), endpointPromises(), streamPromises(), eventPromises(), bytesPromises(), lookupPromises(), reconciliationPromises(), markPromises(), cellPromises(), merchantPromises(), searchPromises(), jobPromises(), hourlyPromises(), worklistPromises(), requestPromises(), apiKeyPromises(), methodPromises(), noticePromises(), erasurePromises(), keyPromises(), supportPromises())
}

// run executes statements and returns how many rows the last one touched.
func run(t *testing.T, tx pgx.Tx, statements string) int64 {
	t.Helper()
	done, err := tx.Exec(t.Context(), names.Replace(statements))
	require.NoError(t, err, statements)
	return done.RowsAffected()
}

// another inserts a copy of a row of the stage with some columns changed.
func another(table, changes string) string {
	return fmt.Sprintf("SELECT pg_temp.another('%s', '%s')", table, changes)
}

var names = strings.NewReplacer(
	":a1", "00000000-0000-7000-8000-0000000000a1", ":a2", "00000000-0000-7000-8000-0000000000a2",
	":f1", "00000000-0000-7000-8000-0000000000f1", ":f2", "00000000-0000-7000-8000-0000000000f2",
	":e1", "00000000-0000-7000-8000-0000000000e1", ":e2", "00000000-0000-7000-8000-0000000000e2",
	":m1", "00000000-0000-7000-8000-0000000000d1", ":m2", "00000000-0000-7000-8000-0000000000d2", ":m3", "00000000-0000-7000-8000-0000000000d3",
)

// stage is one row in every table: an order with a pending attempt, and the rows of both.
//
//nolint:dupword // it is SQL
const stage = `
CREATE FUNCTION pg_temp.another(t text, changes jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE row jsonb;
BEGIN
	EXECUTE format('SELECT to_jsonb(o) FROM %I o LIMIT 1', t) INTO row;
	EXECUTE (SELECT format('INSERT INTO %1$I (%2$s) SELECT %2$s FROM jsonb_populate_record(NULL::%1$I, $1) RETURNING 1', t, string_agg(attname, ', '))
		FROM pg_attribute WHERE attrelid = t::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '') USING row || changes;
END $$;
INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
	VALUES ('o1', 'u1', 'r1', '\x01', 1000, 'EUR', now(), now());
INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage,
	amount, currency, version, created_at, updated_at)
	VALUES ('o1', ':a1', 'u1', 'r1', '\x01', 'acc', 'pending', 'requested', 1000, 'EUR', 3, now(), now());
INSERT INTO operations (order_id, attempt_id, kind, number, account, origin, state, sends, fence, next_at, created_at)
	VALUES ('o1', ':a1', 'charge', 0, 'acc', 'request', 'sent', 1, 1, now(), now());
INSERT INTO sealed_details VALUES ('o1', ':a1', '\x02', now(), now());
INSERT INTO sealed_requests VALUES (':a1', 'charge', 0, '\x02', now());
INSERT INTO rejected_deliveries VALUES (':e1', 'acc', '\x02', '{"\\x01"}', 7, now());
INSERT INTO attempt_references VALUES ('acc', ':a1', 'o1', ':a1');
INSERT INTO final_cursors VALUES ('acc', 1, ':a1', 0, now());
INSERT INTO final_lookups VALUES (':a1', now());
INSERT INTO attempt_transitions (order_id, attempt_id, version, from_stage, to_stage, cause, at)
	VALUES ('o1', ':a1', 1, 'requested', 'requested', 'pay', now());
INSERT INTO money_movements (order_id, attempt_id, number, account, kind, source, provider_id, amount, currency, cause, recorded_at)
	VALUES ('o1', ':a1', 1, 'acc', 'chargeback', 'named', 'dp_1', 500, 'EUR', 'webhook', now());
INSERT INTO refunds (order_id, refund_id, attempt_id, user_id, client_request_id, request_hash, account, provider_refund_id,
	status, amount, currency, version, created_at, updated_at)
	VALUES ('o1', ':f1', ':a1', 'u1', 'r1', '\x01', 'acc', 're_1', 'pending', 500, 'EUR', 3, now(), now());
INSERT INTO disputes (order_id, dispute_id, attempt_id, account, provider_dispute_id, status, amount, currency, version, opened_at, updated_at)
	VALUES ('o1', ':f1', ':a1', 'acc', 'dp_1', 'open', 500, 'EUR', 1, now(), now());
INSERT INTO dispute_moves (order_id, attempt_id, account, dispute, number, kind, amount, currency, recorded_at)
	VALUES ('o1', ':a1', 'acc', 'dp_1', 1, 'chargeback', 500, 'EUR', now());
INSERT INTO payouts (payout_id, account, provider_payout_id, created_at, updated_at) VALUES (':f1', 'acc', 'po_1', now(), now());
INSERT INTO reconciliations (reconciliation_id, account, from_at, to_at, source, started_by, started_at, touched_at)
	VALUES (':f1', 'acc', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 'books', 'daily', now(), now());
INSERT INTO search_orders VALUES ('o1', now(), '{=o1}');
INSERT INTO search_payments VALUES (':a1', 'o1', '2026-01-01', 1000, 'EUR', now());
INSERT INTO pay_holds (account, held_at, since, reason) VALUES ('acc', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 'mark_behind');
INSERT INTO settlements (account, entry_id, order_id, attempt_id, kind, movement_id, payment, amount, currency, balance_currency, payout_id, recorded_at)
	VALUES ('acc', 'e1', 'o1', ':a1', 'capture', '', 'pp-1', 500, 'EUR', '', '', now());
INSERT INTO account_entries (account, entry_id, kind, payment, amount, currency, balance_currency, payout_id, recorded_at)
	VALUES ('acc', 'e1', 'fee', '', 0, '', '', '', now());
INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news, refs, verdict, received_at)
	VALUES (':e1', 'acc', 'evt_1', false, 'paid', 'succeeded', '\x01', '{}', '{}', 'applied', now());
INSERT INTO data_keys VALUES (':e1', '2026-01-01', decode(repeat('00', 60), 'hex'), now());
INSERT INTO event_bytes VALUES (':e1', '2026-01-01', '\x02');
INSERT INTO idempotency_keys (user_id, endpoint, key, request_hash, lease_until, created_at, expires_at)
	VALUES ('u1', 'POST /pay', 'key-00000001', '\x01', now(), now(), now());
INSERT INTO webhook_deliveries VALUES ('acc', 'd1', '\x01');
INSERT INTO account_webhooks VALUES ('acc', now());
INSERT INTO key_quotas VALUES ('u1', now(), 1);
INSERT INTO discrepancies (discrepancy_id, kind, order_id, attempt_id, account, provider_event_id, text, opened_at)
	VALUES (':m1', 'disputed', 'o1', ':a1', 'acc', 'evt_1', 'x', now());
INSERT INTO outbox_batches (batch, events, created_at) VALUES (7, 1, now());
INSERT INTO outbox (batch, nth, message_id, order_id, attempt_id, subject, type, version, payload, created_at)
	VALUES (7, 1, ':m1', 'o1', ':a1', ':a1', 'payment_attempt.failed', 2, '{}', now());
INSERT INTO endpoints (name, url_digest, position) VALUES ('shop', '\x01', 3);
INSERT INTO endpoint_retries VALUES ('shop', 2, 'o1', ':m1', ':a1', 'due', 1, now(), now(), 500, 'x', NULL);
INSERT INTO endpoint_deliveries (endpoint, position, order_id, message_id, at, status, took_ms, error) VALUES ('shop', 2, 'o1', ':m1', now(), 500, 3, 'x');
INSERT INTO streams (name, position) VALUES ('jobs', 3);
INSERT INTO hourly_outcomes VALUES ('2026-01-01T00:00:00Z', 'attempt', 'acc', 'EUR', 'succeeded', '', 2, 1000);
INSERT INTO api_keys VALUES (':m1', sha256('k1'), 'plk_k1', 'shop', '{service}', '{}', 'ann', now());
INSERT INTO saved_methods VALUES ('acc', 'pm_1', 'u1', 'o1', ':a1', 'card', 'visa', '2030-01', NULL, NULL, NULL, 1, now());
INSERT INTO sessions VALUES ('t1', '\x01', now() + interval '1 hour');
INSERT INTO staff_audit (entry_id, deed_id, actor, roles, action, outcome) VALUES (':m1', ':m1', 'ann', '{support}', 'attempt.view', 'done');
INSERT INTO support_jobs (job_id, deed_id, kind, account, verdict, event_type, discrepancy_kind, resolution, reason, actor, roles, address, request_id, created_at, total, behind)
VALUES (':m1', ':m1', 'replay', 'acc', '', '', '', '', 'why', 'ann', '{support}', '', '', now(), 2, '00000000-0000-0000-0000-000000000000');
INSERT INTO support_job_items VALUES (':m1', ':m1', ':a1', 'applied', now());
INSERT INTO refund_requests (refund_request_id, order_id, attempt_id, amount, currency, reason, requested_by, created_at)
	VALUES (':m1', 'o1', ':a1', 500, 'EUR', 'why', 'ann', now());
INSERT INTO notices (name, position, created_at) VALUES ('team', 3, now());
INSERT INTO noticed_requests VALUES ('team', ':m1');
INSERT INTO noticed_endpoints VALUES ('team', 'shop', now());
INSERT INTO attempt_log (order_id, entry_id, attempt_id, kind, what, at, until) VALUES ('o1', ':m1', ':a1', 'reuse', 'pay', now(), now());
`

// The statements that make the stage's attempt and refund final.
const (
	failed          = `UPDATE payment_attempts SET status = 'failed', stage = 'final', finalized_at = now()`
	succeeded       = `UPDATE payment_attempts SET status = 'succeeded', stage = 'final', finalized_at = now(), amount_captured = 1000`
	refundFailed    = `UPDATE refunds SET status = 'failed', finalized_at = now()`
	refundSucceeded = `UPDATE refunds SET status = 'succeeded', finalized_at = now()`
)
