package postgres_test

// requestPromises are about refund requests of staff.
func requestPromises() []promise {
	const (
		approved = `UPDATE refund_requests SET status = 'approved', decided_by = 'bob', decided_at = now(), refund_id = ':f1'`
		declined = `UPDATE refund_requests SET status = 'declined', decided_by = 'bob', decided_at = now()`
	)
	second := another("refund_requests", `{"refund_request_id": ":m2", "amount": 400}`)
	return []promise{
		{
			name: "a refund request has one id", breaks: another("refund_requests", `{"amount": 400}`),
			code: unique, constraint: "refund_requests_pkey", allowed: second,
		},
		{
			name: "a refund request is of an amount", breaks: another("refund_requests", `{"refund_request_id": ":m2", "amount": 0}`),
			code: check, constraint: "refund_requests_amount_positive", allowed: second,
		},
		{
			name: "a refund request has a reason", breaks: another("refund_requests", `{"refund_request_id": ":m2", "amount": 400, "reason": ""}`),
			code: check, constraint: "refund_requests_have_a_reason", allowed: second,
		},
		{
			name: "a refund request is in a known state", breaks: `UPDATE refund_requests SET status = 'odd', decided_by = 'bob', decided_at = now()`,
			code: check, constraint: "refund_requests_status_known", allowed: declined,
		},
		{
			name: "a refund request is of an attempt", breaks: another("refund_requests", `{"refund_request_id": ":m2", "amount": 400, "attempt_id": ":a2"}`),
			code: foreign, constraint: "refund_requests_have_an_attempt", allowed: second,
		},
		{
			name:   "an approved request has a refund that exists",
			breaks: `UPDATE refund_requests SET status = 'approved', decided_by = 'bob', decided_at = now(), refund_id = ':f2'`,
			code:   foreign, constraint: "refund_requests_have_their_refund", allowed: approved,
		},
		{
			name: "a decision has a person and a time", breaks: `UPDATE refund_requests SET status = 'declined', decided_by = 'bob'`,
			code: check, constraint: "refund_requests_decided_by_one", allowed: declined,
		},
		{
			name: "a request is approved with its refund", breaks: `UPDATE refund_requests SET status = 'approved', decided_by = 'bob', decided_at = now()`,
			code: check, constraint: "refund_requests_approved_with_refund", allowed: approved,
		},
		{
			name:   "nobody approves their own request",
			breaks: `UPDATE refund_requests SET status = 'approved', decided_by = 'ann', decided_at = now(), refund_id = ':f1'`,
			code:   check, constraint: "refund_requests_need_two", allowed: approved,
		},
		{
			name: "a person asks for the same once", breaks: another("refund_requests", `{"refund_request_id": ":m2"}`),
			code: unique, constraint: "refund_requests_open_once", allowed: another("refund_requests", `{"refund_request_id": ":m2", "requested_by": "eve"}`),
		},
		{
			name: "a refund is of one request", given: approved, breaks: another("refund_requests", `{"refund_request_id": ":m2"}`),
			code: unique, constraint: "refund_requests_one_per_refund",
			allowed: another("refund_requests", `{"refund_request_id": ":m2", "refund_id": null, "status": "open", "decided_by": "", "decided_at": null}`),
		},
	}
}

// noticePromises are about mails to a team.
func noticePromises() []promise {
	return []promise{
		{
			name: "a notice has one row", breaks: another("notices", `{"position": 4}`),
			code: unique, constraint: "notices_pkey", allowed: another("notices", `{"name": "ops"}`),
		},
		{
			name: "a notice's position counts", breaks: `UPDATE notices SET position = -1`,
			code: check, constraint: "notices_position_counts", allowed: `UPDATE notices SET position = 4`,
		},
		{
			name: "a refund request is sent by a notice once", breaks: another("noticed_requests", `{}`),
			code: unique, constraint: "noticed_requests_once", allowed: `DELETE FROM noticed_requests`,
		},
		{
			name: "what is sent is sent by a notice", breaks: another("noticed_requests", `{"notice": "ops"}`),
			code: foreign, constraint: "noticed_by_a_notice", allowed: `DELETE FROM noticed_requests`,
		},
		{
			name: "a refund request that is sent exists", breaks: another("noticed_requests", `{"refund_request_id": ":m2"}`),
			code: foreign, constraint: "noticed_refund_requests", allowed: `DELETE FROM noticed_requests`,
		},
		{
			name: "an endpoint is noted once by a notice", breaks: another("noticed_endpoints", `{}`),
			code: unique, constraint: "noticed_endpoints_once", allowed: `DELETE FROM noticed_endpoints`,
		},
		{
			name: "an endpoint is noted by a notice that exists", breaks: another("noticed_endpoints", `{"notice": "ops"}`),
			code: foreign, constraint: "endpoints_noticed_by_a_notice", allowed: `DELETE FROM noticed_endpoints`,
		},
		{
			name: "an endpoint that is noted exists", breaks: another("noticed_endpoints", `{"endpoint": "other"}`),
			code: foreign, constraint: "noticed_endpoints_exist", allowed: `DELETE FROM noticed_endpoints`,
		},
	}
}
