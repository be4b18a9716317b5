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
				`{"attempt_id": ":a2", "client_request_id": "r2", "status": "pending", "stage": "requested", "finalized_at": null}`),
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
			code: foreign, constraint: "attempts_have_an_order", allowed: failedTry(""),
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
			name: "somebody's call began an attempt", breaks: failedTry(`, "origin": "nobody"`),
			code: check, constraint: "attempts_origin_known", allowed: failedTry(`, "origin": "imported"`),
		},
		{
			name: "what was begun elsewhere expires", breaks: failedTry(`, "origin": "external"`),
			code: check, constraint: "attempts_external_expire", allowed: failedTry(`, "origin": "external", "expires_at": "2026-01-01"`),
		},
		{
			name: "versions begin at one", breaks: failedTry(`, "version": 0`),
			code: check, constraint: "attempts_version_counts", allowed: failedTry(`, "version": 1`),
		},
		{
			name: "an attempt with a log stays",
			given: `DELETE FROM attempt_references; DELETE FROM refunds; ` +
				another("payment_attempts", `{"attempt_id": ":a2", "client_request_id": "r2", "status": "failed", "stage": "final", "finalized_at": "2026-01-01"}`),
			breaks: `DELETE FROM payment_attempts WHERE attempt_id = ':a1'`,
			code:   foreign, constraint: "attempts_with_a_log_stay",
			allowed: `DELETE FROM payment_attempts WHERE attempt_id = ':a2'`,
		},
	}
}
