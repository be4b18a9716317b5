package postgres_test

// attemptMoves are the promises about how an attempt may change.
func attemptMoves() []promise {
	const set = `UPDATE payment_attempts SET `
	return []promise{
		{
			name: "failed does not become succeeded", given: failed, breaks: set + `status = 'succeeded'`,
			code: violated, constraint: "attempts_final_is_final", allowed: set + `status = 'failed', amount_captured = 1000, version = 4`,
		},
		{
			name: "failed does not become pending", given: failed, breaks: set + `status = 'pending', stage = 'requested', finalized_at = NULL`,
			code: violated, constraint: "attempts_final_is_final", allowed: set + `status = 'failed', version = 4`,
		},
		{
			name: "succeeded does not become failed", given: succeeded, breaks: set + `status = 'failed'`,
			code: violated, constraint: "attempts_final_is_final", allowed: set + `status = 'succeeded', amount_captured = -5, version = 4`,
		},
		{
			name: "succeeded does not become pending", given: succeeded, breaks: set + `status = 'pending', stage = 'requested', finalized_at = NULL`,
			code: violated, constraint: "attempts_final_is_final", allowed: set + `status = 'succeeded', version = 4`,
		},
		attemptTerm("order_id", "'o2'"),
		attemptTerm("attempt_id", "':a2'"),
		attemptTerm("user_id", "'u2'"),
		attemptTerm("client_request_id", "'r2'"),
		attemptTerm("account", "'other'"),
		attemptTerm("merchant", "1"),
		attemptTerm("amount", "999"),
		attemptTerm("currency", "'USD'"),
		{
			name: "a version does not go back", breaks: set + `version = 2`,
			code: violated, constraint: "attempts_only_forward", allowed: set + `version = 4`,
		},
		{
			name: "a final status has the final stage", breaks: set + `status = 'failed', finalized_at = now()`,
			code: check, constraint: "attempts_final_stage", allowed: failed,
		},
		{
			name: "the final stage has a final status", breaks: set + `stage = 'final'`,
			code: check, constraint: "attempts_final_stage", allowed: set + `stage = 'authorized'`,
		},
		{
			name: "a final attempt says since when", breaks: set + `status = 'failed', stage = 'final'`,
			code: check, constraint: "attempts_final_time", allowed: failed,
		},
		{
			name: "a pending attempt is not final since", breaks: set + `finalized_at = now()`,
			code: check, constraint: "attempts_final_time", allowed: set + `finalized_at = NULL`,
		},
		{
			name: "an operation carries one request", breaks: another("sealed_requests", `{"sealed": "\\x03"}`),
			code: unique, constraint: "sealed_requests_pkey", allowed: another("sealed_requests", `{"attempt_id": ":a2"}`),
		},
		{
			name: "a rejected delivery has an id", breaks: another("rejected_deliveries", `{"account": "other"}`),
			code: unique, constraint: "rejected_deliveries_pkey", allowed: another("rejected_deliveries", `{"delivery_id": ":e2"}`),
		},
		{
			name: "an attempt has one receipt", breaks: another("sealed_details", `{"sealed": "\\x03"}`),
			code: unique, constraint: "details_once", allowed: another("sealed_details", `{"attempt_id": ":a2"}`),
		},
		{
			name: "only calls with a content carry a request", breaks: another("sealed_requests", `{"kind": "cancel"}`),
			code: check, constraint: "sealed_requests_kind_carries", allowed: another("sealed_requests", `{"kind": "complete"}`),
		},
	}
}

func attemptTerm(column, value string) promise {
	return promise{
		name: "an attempt's " + column + " never changes", breaks: `UPDATE payment_attempts SET ` + column + ` = ` + value,
		code: violated, constraint: "attempts_terms_fixed",
		allowed: `UPDATE payment_attempts SET ` + column + ` = ` + column + `, provider_payment_id = 'pp_1'`,
	}
}
