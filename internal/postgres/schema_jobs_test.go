package postgres_test

// jobPromises are about acts of staff on many events or discrepancies.
func jobPromises() []promise {
	over := another("support_jobs", `{"job_id": ":m2", "state": "done", "finished_at": "2026-03-01"}`)
	return []promise{
		{
			name: "a job has one id", breaks: another("support_jobs", `{"kind": "resolve"}`),
			code: unique, constraint: "support_jobs_pkey", allowed: another("support_jobs", `{"job_id": ":m2", "kind": "resolve"}`),
		},
		{
			name: "one job of a kind is running", breaks: another("support_jobs", `{"job_id": ":m2"}`),
			code: unique, constraint: "jobs_one_running_each_kind", allowed: over,
		},
		{
			name: "a job is of a known kind", breaks: another("support_jobs", `{"job_id": ":m2", "kind": "odd"}`),
			code: check, constraint: "jobs_kind_known", allowed: another("support_jobs", `{"job_id": ":m2", "kind": "resolve"}`),
		},
		{
			name: "a job is in a known state", breaks: `UPDATE support_jobs SET state = 'odd', finished_at = now()`,
			code: check, constraint: "jobs_state_known", allowed: `UPDATE support_jobs SET state = 'stopped', finished_at = now()`,
		},
		{
			name: "a job that is over has ended at a time", breaks: `UPDATE support_jobs SET state = 'done'`,
			code: check, constraint: "jobs_finished_once_over", allowed: over,
		},
		{
			name: "a job has a filter", breaks: another("support_jobs", `{"job_id": ":m2", "kind": "resolve", "account": ""}`),
			code: check, constraint: "jobs_have_a_filter", allowed: another("support_jobs", `{"job_id": ":m2", "kind": "resolve", "account": "", "until": "2026-03-01"}`),
		},
		{
			name: "a job does each thing once", breaks: another("support_job_items", `{"outcome": "repeat"}`),
			code: unique, constraint: "job_items_done_once", allowed: another("support_job_items", `{"item_id": ":m2"}`),
		},
		{
			name: "what was done is of a job", breaks: another("support_job_items", `{"job_id": ":m2"}`),
			code: foreign, constraint: "job_items_have_a_job", allowed: another("support_job_items", `{"item_id": ":m2"}`),
		},
	}
}
