package postgres_test

func bytesPromises() []promise {
	return []promise{
		{
			name: "a data key has an id of its own", breaks: another("data_keys", `{"month": "2026-02-01"}`),
			code: unique, constraint: "data_keys_pkey", allowed: another("data_keys", `{"key_id": ":e2"}`),
		},
		{
			name: "a data key is of a month", breaks: another("data_keys", `{"key_id": ":e2", "month": "2026-02-02"}`),
			code: check, constraint: "data_keys_month_begins", allowed: another("data_keys", `{"key_id": ":e2", "month": "2026-02-01"}`),
		},
		{
			name: "a data key is encrypted", breaks: `UPDATE data_keys SET wrapped = decode(repeat('00', 32), 'hex')`,
			code: check, constraint: "data_keys_wrapped", allowed: `UPDATE data_keys SET wrapped = decode(repeat('00', 61), 'hex')`,
		},
		{
			name: "the bytes of an event are stored once", breaks: another("event_bytes", `{"sealed": "\\x03"}`),
			code: unique, constraint: "event_bytes_other_pkey", allowed: another("event_bytes", `{"event_id": ":e2"}`),
		},
	}
}
