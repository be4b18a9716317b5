package postgres_test

// endpointPromises are about deliveries to the merchant.
func endpointPromises() []promise {
	return []promise{
		{
			name: "an endpoint is there once", breaks: another("endpoints", `{}`),
			code: unique, constraint: "endpoints_pkey", allowed: another("endpoints", `{"name": "other"}`),
		},
		{
			name: "an endpoint's position counts", breaks: `UPDATE endpoints SET position = -1`,
			code: check, constraint: "endpoints_position_counts", allowed: `UPDATE endpoints SET position = 0`,
		},
		{
			name: "an endpoint is in a known state", breaks: `UPDATE endpoints SET state = 'odd'`,
			code: check, constraint: "endpoints_state_known", allowed: `UPDATE endpoints SET state = 'gone'`,
		},
		{
			name: "a retry is of an endpoint that exists", breaks: another("endpoint_retries", `{"endpoint": "other"}`),
			code: foreign, constraint: "retries_have_an_endpoint", allowed: another("endpoint_retries", `{"position": 3, "subject": "x"}`),
		},
		{
			name: "an event is retried once", breaks: another("endpoint_retries", `{"subject": "x"}`),
			code: unique, constraint: "retries_once", allowed: another("endpoint_retries", `{"position": 3, "subject": "x"}`),
		},
		{
			name: "one event of a subject is due", breaks: another("endpoint_retries", `{"position": 3}`),
			code: unique, constraint: "retries_one_due_each_subject", allowed: another("endpoint_retries", `{"position": 3, "state": "queued"}`),
		},
		{
			name: "a retry is in a known state", breaks: `UPDATE endpoint_retries SET state = 'odd'`,
			code: check, constraint: "retries_state_known", allowed: `UPDATE endpoint_retries SET state = 'queued'`,
		},
		{
			name: "tries count", breaks: `UPDATE endpoint_retries SET tries = -1`,
			code: check, constraint: "retries_count", allowed: `UPDATE endpoint_retries SET tries = 0`,
		},
		{
			name: "a dead retry has the time of that", breaks: `UPDATE endpoint_retries SET state = 'dead'`,
			code: check, constraint: "retries_dead_since", allowed: `UPDATE endpoint_retries SET state = 'dead', dead_at = now()`,
		},
		{
			name: "an attempt to deliver has one number", breaks: `INSERT INTO endpoint_deliveries OVERRIDING SYSTEM VALUE SELECT * FROM endpoint_deliveries`,
			code: unique, constraint: "endpoint_deliveries_pkey",
			allowed: `INSERT INTO endpoint_deliveries (endpoint, position, order_id, message_id, at, status, took_ms, error) VALUES ('shop', 2, 'o1', ':m1', now(), 204, 3, '')`,
		},
	}
}

// streamPromises are about the events that are published to brokers.
func streamPromises() []promise {
	return []promise{
		{
			name: "a stream is there once", breaks: another("streams", `{}`),
			code: unique, constraint: "streams_pkey", allowed: another("streams", `{"name": "other"}`),
		},
		{
			name: "a stream's position counts", breaks: `UPDATE streams SET position = -1`,
			code: check, constraint: "streams_position_counts", allowed: `UPDATE streams SET position = 0`,
		},
	}
}
