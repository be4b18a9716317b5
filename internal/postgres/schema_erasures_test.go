package postgres_test

import "strings"

// erasurePromises are about the erasure of customers: the role that may erase, and the data that stays unchanged.
func erasurePromises() []promise {
	const (
		given   = `INSERT INTO erasures VALUES ('erased-00000000000000000000000a', '\x01', now(), NULL); INSERT INTO erased_requests VALUES (sha256('a'))`
		erasing = failed + `; SELECT set_config('paylatch.erasing', 'on', true)`
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
			code: violated, constraint: "orders_terms_fixed", allowed: `SELECT set_config('paylatch.erasing', 'on', true); ` + rename,
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
			name: "an attempt under way keeps the name", given: `SELECT set_config('paylatch.erasing', 'on', true)`, breaks: attempts,
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
			allowed: `SELECT set_config('paylatch.purging', 'on', true); DELETE FROM attempt_log`,
		},
		{
			name: "a purge leaves the log of an attempt", given: `SELECT set_config('paylatch.purging', 'on', true)`, breaks: `DELETE FROM attempt_transitions`,
			code: violated, constraint: "attempt_transitions_append_only", allowed: `DELETE FROM attempt_log`,
		},
	}
}
