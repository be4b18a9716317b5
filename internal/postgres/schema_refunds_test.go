package postgres_test

func refundPromises() []promise {
	const set = `UPDATE refunds SET `
	nobodys := func(origin, id string) string {
		return another("refunds", `{"refund_id": "00000000-0000-7000-8000-0000000000`+id+`", "origin": "`+origin+`",
			"user_id": null, "client_request_id": null, "request_hash": null, "provider_refund_id": ""}`)
	}
	second := func(changes string) string {
		return another("refunds", `{"refund_id": ":f2", "client_request_id": "r2", "provider_refund_id": ""`+changes+`}`)
	}
	return []promise{
		{
			name: "a refund's id is taken once", breaks: second(`, "refund_id": ":f1"`),
			code: unique, constraint: "refunds_pkey", allowed: second(""),
		},
		{
			name: "a request makes one refund", breaks: second(`, "client_request_id": "r1"`),
			code: unique, constraint: "refunds_one_per_request", allowed: second(`, "client_request_id": "r1", "user_id": "u2"`),
		},
		{
			name: "a provider's refund is one row", breaks: second(`, "provider_refund_id": "re_1"`),
			code: unique, constraint: "refunds_one_per_provider_id", allowed: second(`, "provider_refund_id": "re_1", "account": "other"`),
		},
		{
			name: "a refund is of an attempt", breaks: second(`, "attempt_id": ":a2"`),
			code: foreign, constraint: "refunds_have_an_attempt", allowed: second(""),
		},
		{
			name: "a refund is not of nothing", breaks: second(`, "amount": 0`),
			code: check, constraint: "refunds_amount_positive", allowed: second(`, "amount": 1`),
		},
		{
			name: "a refund's versions begin at one", breaks: second(`, "version": 0`),
			code: check, constraint: "refunds_version_counts", allowed: second(`, "version": 1`),
		},
		{
			name: "a failed refund does not succeed", given: refundFailed, breaks: set + `status = 'succeeded'`,
			code: violated, constraint: "refunds_final_is_final", allowed: set + `status = 'failed', version = 4`,
		},
		{
			name: "a failed refund does not become pending", given: refundFailed, breaks: set + `status = 'pending', finalized_at = NULL`,
			code: violated, constraint: "refunds_final_is_final", allowed: set + `status = 'failed', version = 4`,
		},
		{
			name: "a refund that succeeded does not fail", given: refundSucceeded, breaks: set + `status = 'failed'`,
			code: violated, constraint: "refunds_final_is_final", allowed: set + `status = 'succeeded', version = 4`,
		},
		{
			name: "a refund that succeeded does not become pending", given: refundSucceeded, breaks: set + `status = 'pending', finalized_at = NULL`,
			code: violated, constraint: "refunds_final_is_final", allowed: set + `status = 'succeeded', version = 4`,
		},
		{
			name: "a refund's origin is known", breaks: second(`, "origin": "paylatch"`),
			code: check, constraint: "refunds_origin_known", allowed: nobodys("policy", "f2"),
		},
		{
			name: "a refund that nobody asked for has no user", breaks: second(`, "origin": "provider"`),
			code: check, constraint: "refunds_request_is_whole", allowed: nobodys("provider", "f2"),
		},
		{
			name: "a request has a user", breaks: second(`, "user_id": null`),
			code: check, constraint: "refunds_request_is_whole", allowed: second(""),
		},
		{
			name: "a policy makes one refund", given: nobodys("policy", "f2"), breaks: nobodys("policy", "f3"),
			code: unique, constraint: "refunds_one_by_policy", allowed: nobodys("provider", "f3"),
		},
		refundTerm("order_id", "'o2'"),
		refundTerm("refund_id", "':f2'"),
		refundTerm("attempt_id", "':a2'"),
		refundTerm("origin", "'policy'"),
		refundTerm("user_id", "'u2'"),
		refundTerm("amount", "499"),
		refundTerm("currency", "'USD'"),
		{
			name: "a refund's version does not go back", breaks: set + `version = 2`,
			code: violated, constraint: "refunds_only_forward", allowed: set + `version = 4`,
		},
		{
			name: "a final refund says since when", breaks: set + `status = 'failed'`,
			code: check, constraint: "refunds_final_time", allowed: refundFailed,
		},
		{
			name: "a pending refund is not final since", breaks: set + `finalized_at = now()`,
			code: check, constraint: "refunds_final_time", allowed: set + `finalized_at = NULL`,
		},
	}
}

func refundTerm(column, value string) promise {
	return promise{
		name: "a refund's " + column + " never changes", breaks: `UPDATE refunds SET ` + column + ` = ` + value,
		code: violated, constraint: "refunds_terms_fixed", allowed: `UPDATE refunds SET ` + column + ` = ` + column + `, version = 4`,
	}
}
