package postgres_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// erasurePromises are about the erasure of customers: the role that may erase, and the data that stays unchanged.
func erasurePromises() []promise {
	const (
		given   = `INSERT INTO erasures VALUES ('erased-00000000000000000000000a', '\x01', now(), NULL); INSERT INTO erased_requests VALUES (sha256('a'))`
		erasing = failed + `; INSERT INTO lifted_guards VALUES ('erasing')`
		rename  = `UPDATE orders SET user_id = 'erased-00000000000000000000000a'`
	)
	attempts := strings.Replace(rename, "orders", "payment_attempts", 1)
	refunds := strings.Replace(rename, "orders", "refunds", 1)
	return []promise{
		{
			name: "a pseudonym is of one customer", given: given, breaks: another("erasures", `{"mark": "\\x02"}`),
			code: unique, constraint: "erasures_pkey", allowed: another("erasures", `{"mark": "\\x02", "pseudonym": "erased-00000000000000000000000b"}`),
		},
		{
			name: "a customer has one pseudonym", given: given, breaks: another("erasures", `{"pseudonym": "erased-00000000000000000000000b"}`),
			code: unique, constraint: "erasures_one_per_person", allowed: another("erasures", `{"mark": "\\x02", "pseudonym": "erased-00000000000000000000000b"}`),
		},
		{
			name: "a pseudonym is no name", given: given, breaks: another("erasures", `{"mark": "\\x02", "pseudonym": "erased-ann"}`),
			code: check, constraint: "erasures_pseudonym_form", allowed: another("erasures", `{"mark": "\\x02", "pseudonym": "erased-00000000000000000000000b"}`),
		},
		{
			name: "a request is kept once", given: given, breaks: `INSERT INTO erased_requests VALUES (sha256('a'))`,
			code: unique, constraint: "erased_requests_pkey", allowed: `INSERT INTO erased_requests VALUES (sha256('b'))`,
		},
		{
			name: "a request is a digest", given: given, breaks: `INSERT INTO erased_requests VALUES ('u1 r1')`,
			code: check, constraint: "erased_requests_digest", allowed: `INSERT INTO erased_requests VALUES (sha256('b'))`,
		},
		{
			name: "a name goes by an erasure alone", given: failed, breaks: rename,
			code: violated, constraint: "orders_terms_fixed", allowed: `INSERT INTO lifted_guards VALUES ('erasing'); ` + rename,
		},
		{
			name: "an erasure gives no other name", given: erasing, breaks: `UPDATE orders SET user_id = 'u2'`,
			code: violated, constraint: "orders_terms_fixed", allowed: rename,
		},
		{
			name: "an erasure keeps the price", given: erasing, breaks: rename + `, amount = 1`,
			code: violated, constraint: "orders_terms_fixed", allowed: rename,
		},
		{
			name: "an erasure keeps what an attempt is for", given: erasing, breaks: attempts + `, client_request_id = 'r9'`,
			code: violated, constraint: "attempts_terms_fixed", allowed: attempts,
		},
		{
			name: "an attempt under way keeps the name", given: `INSERT INTO lifted_guards VALUES ('erasing')`, breaks: attempts,
			code: violated, constraint: "attempts_terms_fixed", allowed: failed + `; ` + attempts,
		},
		{
			name: "an erasure keeps what a refund is for", given: erasing, breaks: refunds + `, amount = 1`,
			code: violated, constraint: "refunds_terms_fixed", allowed: refunds,
		},
		{
			name: "an erasure keeps what an event is about", given: erasing, breaks: `UPDATE outbox SET payload = '{"a":1}', subject = 'x'`,
			code: violated, constraint: "outbox_never_changes", allowed: `UPDATE outbox SET payload = '{"a":1}'`,
		},
		{
			name: "an erasure leaves the audit log", given: erasing, breaks: `UPDATE staff_audit SET actor = 'erased-'`,
			code: violated, constraint: "staff_audit_append_only", allowed: `UPDATE attempt_log SET actor = 'customer:erased-'`,
		},
		{
			name: "an erasure leaves the log of an attempt", given: erasing, breaks: `UPDATE attempt_transitions SET cause_id = ''`,
			code: violated, constraint: "attempt_transitions_append_only", allowed: `UPDATE attempt_log SET actor = 'customer:erased-'`,
		},
		{
			name: "presses go by their age alone", breaks: `DELETE FROM attempt_log`,
			code: violated, constraint: "attempt_log_append_only",
			allowed: `INSERT INTO lifted_guards VALUES ('purging'); DELETE FROM attempt_log`,
		},
		{
			name: "a guard is lifted once", given: `INSERT INTO lifted_guards VALUES ('erasing')`, breaks: `INSERT INTO lifted_guards VALUES ('erasing')`,
			code: unique, constraint: "lifted_guards_pkey", allowed: `INSERT INTO lifted_guards VALUES ('purging')`,
		},
		{
			name: "a guard that is lifted is known", breaks: `INSERT INTO lifted_guards VALUES ('all')`,
			code: check, constraint: "lifted_guards_known", allowed: `INSERT INTO lifted_guards VALUES ('erasing')`,
		},
		{
			name: "a purge leaves the log of an attempt", given: `INSERT INTO lifted_guards VALUES ('purging')`, breaks: `DELETE FROM attempt_transitions`,
			code: violated, constraint: "attempt_transitions_append_only", allowed: `DELETE FROM attempt_log`,
		},
	}
}

// A row of lifted_guards counts only in the transaction that wrote it.
func TestGuardIsLiftedForOneTransaction(t *testing.T) {
	t.Parallel()
	c := testdb.Connect(t, testdb.New(t))
	_, err := c.Exec(t.Context(), "INSERT INTO lifted_guards VALUES ('purging')")
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), "DELETE FROM staff_audit")
	var refused *pgconn.PgError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "staff_audit_append_only", refused.ConstraintName)
	_, err = c.Exec(t.Context(), "INSERT INTO lifted_guards VALUES ('purging'); DELETE FROM staff_audit")
	require.NoError(t, err, "in one transaction")
}
