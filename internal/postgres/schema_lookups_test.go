package postgres_test

// lookupPromises are about how far final attempts were looked up again.
func lookupPromises() []promise {
	return []promise{
		{
			name: "an account has a cursor for each age", breaks: another("final_cursors", `{"misses": 2}`),
			code: unique, constraint: "cursors_once", allowed: another("final_cursors", `{"horizon_days": 7}`),
		},
		{
			name: "an age is some days", breaks: another("final_cursors", `{"horizon_days": 0}`),
			code: check, constraint: "cursors_horizon_positive", allowed: another("final_cursors", `{"horizon_days": 7}`),
		},
		{
			name: "a cursor counts its misses", breaks: `UPDATE final_cursors SET misses = -1`,
			code: check, constraint: "cursors_misses_count", allowed: `UPDATE final_cursors SET misses = 1`,
		},
		{
			name: "an attempt has one reservation", breaks: another("final_lookups", `{"looked_up_at": "2020-01-01"}`),
			code: unique, constraint: "lookups_once", allowed: another("final_lookups", `{"attempt_id": ":a2"}`),
		},
	}
}
