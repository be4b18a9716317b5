package postgres_test

func attemptPromises() []promise {
	secondTry := another("payment_attempts", `{"attempt_id": ":a2", "client_request_id": "r2"}`)
	failedTry := func(changes string) string {
		return another("payment_attempts", `{"attempt_id": ":a2", "client_request_id": "r2", "status": "failed", "stage": "final",
			"finalized_at": "2026-01-01"`+changes+`}`)
	}
	return []promise{
		{
			name: "an order has one pending attempt", breaks: secondTry,
			code: unique, constraint: "attempts_one_live_per_order", allowed: failed + "; " + secondTry,
		},
		{
			name: "a paid order has no second attempt", given: succeeded, breaks: another("payment_attempts",
				`{"attempt_id": ":a2", "client_request_id": "r2", "status": "pending", "stage": "requested", "finalized_at": null, "next_check_at": "2026-01-01"}`),
			code: unique, constraint: "attempts_one_live_per_order", allowed: failedTry(""),
		},
		{
			name: "an attempt's id is taken once", given: failed, breaks: failedTry(`, "attempt_id": ":a1"`),
			code: unique, constraint: "payment_attempts_pkey", allowed: failedTry(""),
		},
		{
			name: "a request makes one attempt even after it failed", given: failed, breaks: failedTry(`, "client_request_id": "r1"`),
			code: unique, constraint: "attempts_one_per_request", allowed: failedTry(`, "client_request_id": "r1", "user_id": "u2"`),
		},
		{
			name: "an attempt is for an order", breaks: failedTry(`, "order_id": "o2"`),
			code: foreign, constraint: "payment_attempts_order_id_fkey", allowed: failedTry(""),
		},
		{
			name: "an attempt is not for nothing", breaks: failedTry(`, "amount": 0`),
			code: check, constraint: "attempts_amount_positive", allowed: failedTry(`, "amount": 1`),
		},
		{
			name: "an attempt is not for too much", breaks: failedTry(`, "amount": 1000000000001`),
			code: check, constraint: "attempts_amount_positive", allowed: failedTry(`, "amount": 1000000000000`),
		},
		{
			name: "versions begin at one", breaks: failedTry(`, "version": 0`),
			code: check, constraint: "payment_attempts_version_check", allowed: failedTry(`, "version": 1`),
		},
		{
			name: "fences begin at one", breaks: failedTry(`, "fence": 0`),
			code: check, constraint: "payment_attempts_fence_check", allowed: failedTry(`, "fence": 1`),
		},
		{
			name: "an attempt with a log stays",
			given: `DELETE FROM attempt_references; DELETE FROM refunds; ` +
				another("payment_attempts", `{"attempt_id": ":a2", "client_request_id": "r2", "status": "failed", "stage": "final", "finalized_at": "2026-01-01"}`),
			breaks: `DELETE FROM payment_attempts WHERE attempt_id = ':a1'`,
			code:   foreign, constraint: "attempts_with_a_log_stay",
			allowed: `DELETE FROM payment_attempts WHERE attempt_id = ':a2'`,
		},
		attemptColumn("what was authorised is not negative", "amount_authorized = -1", "payment_attempts_amount_authorized_check", "amount_authorized = 0"),
		attemptColumn("what was taken is not negative", "amount_captured = -1", "attempts_refunded_held", "amount_captured = 0"),
		attemptColumn("what was lost again is not negative", "amount_reversed = -1", "payment_attempts_amount_reversed_check", "amount_reversed = 0"),
		attemptColumn("no more is paid back than was taken", "amount_captured = 5, amount_refunded = 6", "attempts_refunded_held", "amount_captured = 5, amount_refunded = 5"),
		attemptColumn("what was paid back is not negative", "amount_refunded = -1", "attempts_refunded_held", "amount_refunded = 0"),
		attemptColumn("no more of another currency is given back than was taken", "foreign_amount = 5, foreign_returned = 6", "attempts_foreign_returned", "foreign_amount = 5, foreign_returned = 5"),
		attemptColumn("an intent is to capture or to cancel", "intent = 'refund'", "attempts_intent_known", "intent = 'cancel'"),
	}
}

// attemptColumn is about the values of one row.
func attemptColumn(name, breaks, constraint, allowed string) promise {
	return promise{
		name: name, breaks: `UPDATE payment_attempts SET ` + breaks, code: check, constraint: constraint,
		allowed: `UPDATE payment_attempts SET ` + allowed,
	}
}
