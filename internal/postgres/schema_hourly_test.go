package postgres_test

// hourlyPromises are about the hourly counts.
func hourlyPromises() []promise {
	next := func(changes string) string {
		return another("hourly_outcomes", `{"hour": "2026-01-01T01:00:00Z"`+changes+`}`)
	}
	return []promise{
		{
			name: "an hour has each outcome once", breaks: another("hourly_outcomes", `{"count": 3}`),
			code: unique, constraint: "hourly_outcomes_pkey", allowed: next(""),
		},
		{
			name: "what is counted is of whole hours", breaks: another("hourly_outcomes", `{"hour": "2026-01-01T01:30:00Z"}`),
			code: check, constraint: "outcomes_whole_hours", allowed: next(""),
		},
		{
			name: "what is counted is of a known subject", breaks: next(`, "subject": "odd"`),
			code: check, constraint: "outcomes_subject_known", allowed: next(`, "subject": "refund"`),
		},
		{
			name: "what is counted has a known outcome", breaks: next(`, "status": "odd"`),
			code: check, constraint: "outcomes_status_known", allowed: next(`, "status": "failed"`),
		},
		{
			name: "no hour counts nothing", breaks: next(`, "count": 0`),
			code: check, constraint: "outcomes_count_something", allowed: next(`, "count": 1`),
		},
		{
			name: "counting has one progress", breaks: `INSERT INTO hourly_progress (position) VALUES (1)`,
			code: unique, constraint: "hourly_progress_pkey", allowed: `UPDATE hourly_progress SET position = 1`,
		},
		{
			name: "counting has no other progress", breaks: `INSERT INTO hourly_progress (one, position) VALUES (false, 1)`,
			code: check, constraint: "hourly_progress_is_one", allowed: `UPDATE hourly_progress SET position = 1`,
		},
		{
			name: "counting begins at the beginning", breaks: `UPDATE hourly_progress SET position = -1`,
			code: check, constraint: "hourly_progress_counts", allowed: `UPDATE hourly_progress SET position = 0`,
		},
	}
}
