package postgres_test

func eventPromises() []promise {
	second := func(changes string) string {
		return another("provider_events", `{"event_id": ":e2", "provider_event_id": "evt_2"`+changes+`}`)
	}
	return []promise{
		{
			name: "an event is stored once", breaks: second(`, "provider_event_id": "evt_1"`),
			code: unique, constraint: "events_one_per_id", allowed: second(`, "provider_event_id": "evt_1", "account": "other"`),
		},
		{
			name: "an event has a known verdict", breaks: second(`, "verdict": "duplicate"`),
			code: check, constraint: "events_verdict_known", allowed: second(`, "verdict": "conflict"`),
		},
		{
			name: "a foreign event is not tried again", breaks: second(`, "next_try_at": "2026-01-01", "verdict": "foreign"`),
			code: check, constraint: "events_parked_are_tried", allowed: second(`, "verdict": "foreign"`),
		},
		{
			name: "only a parked event is tried again", breaks: second(`, "next_try_at": "2026-01-01"`),
			code: check, constraint: "events_parked_are_tried", allowed: second(`, "next_try_at": "2026-01-01", "verdict": "deferred"`),
		},
		{
			name: "a delivery brings one body", breaks: another("webhook_deliveries", `{"body_digest": "\\x02"}`),
			code: unique, constraint: "deliveries_one_body_per_id", allowed: another("webhook_deliveries", `{"account": "other"}`),
		},
	}
}

func keyPromises() []promise {
	const set = `UPDATE idempotency_keys SET `
	second := func(changes string) string { return another("idempotency_keys", `{"key": "key-00000002"`+changes+`}`) }
	return []promise{
		{
			name: "a key names one command", breaks: another("idempotency_keys", `{"subject": "x"}`),
			code: unique, constraint: "keys_one_per_command", allowed: another("idempotency_keys", `{"endpoint": "POST /orders"}`),
		},
		{
			name: "a key is not too short", breaks: second(`, "key": "1234567"`),
			code: check, constraint: "keys_length", allowed: second(`, "key": "12345678"`),
		},
		{
			name: "a key is not too long", breaks: set + `key = repeat('k', 201)`,
			code: check, constraint: "keys_length", allowed: set + `key = repeat('k', 200)`,
		},
		{
			name: "an answer has a status", breaks: set + `answered = true`,
			code: check, constraint: "keys_answer_has_status", allowed: set + `answered = true, status = 201`,
		},
		{
			name: "a status is an answer's", breaks: set + `status = 201`,
			code: check, constraint: "keys_answer_has_status", allowed: set + `answered = true, status = 201`,
		},
		{
			name: "a kept body is small", breaks: set + `body = convert_to(repeat('x', 65537), 'UTF8')`,
			code: check, constraint: "keys_body_small", allowed: set + `body = convert_to(repeat('x', 65536), 'UTF8')`,
		},
		{
			name: "a user's quota is one row", breaks: another("key_quotas", `{"used": 2}`),
			code: unique, constraint: "key_quotas_pkey", allowed: another("key_quotas", `{"user_id": "u2"}`),
		},
		{
			name: "a quota counts keys", breaks: `UPDATE key_quotas SET used = 0`,
			code: check, constraint: "quotas_count", allowed: `UPDATE key_quotas SET used = 1`,
		},
	}
}
