package postgres_test

// supportPromises are about the data that support reads and writes.
func supportPromises() []promise {
	deed := another("staff_audit", `{"entry_id": ":m2"}`)
	entry := another("attempt_log", `{"entry_id": ":m2"}`)
	refuses := func(name, breaks, constraint, allowed string) promise {
		return promise{name: name, breaks: breaks, code: violated, constraint: constraint, allowed: allowed}
	}
	return []promise{
		refuses("the audit log is not rewritten", `UPDATE staff_audit SET reason = ''`, "staff_audit_append_only", deed),
		refuses("the audit log is not shortened", `DELETE FROM staff_audit`, "staff_audit_append_only", deed),
		refuses("the audit log is not emptied", `TRUNCATE staff_audit`, "staff_audit_append_only", deed),
		refuses("what was pressed is not rewritten", `UPDATE attempt_log SET times = 2`, "attempt_log_append_only", entry),
		refuses("what was pressed is not shortened", `DELETE FROM attempt_log`, "attempt_log_append_only", entry),
		refuses("what was pressed is not emptied", `TRUNCATE attempt_log`, "attempt_log_append_only", entry),
		{
			name: "a session has one token", breaks: another("sessions", `{"data": "x"}`),
			code: unique, constraint: "sessions_pkey", allowed: another("sessions", `{"token": "t2"}`),
		},
		{
			name: "an entry of the audit log has one id", breaks: another("staff_audit", `{"actor": "bob"}`),
			code: unique, constraint: "staff_audit_pkey", allowed: deed,
		},
		{
			name: "the audit log names somebody", breaks: another("staff_audit", `{"entry_id": ":m2", "actor": ""}`),
			code: check, constraint: "audit_names_an_actor", allowed: another("staff_audit", `{"entry_id": ":m2", "actor": "", "outcome": "refused"}`),
		},
		{
			name: "the audit log lists roles", breaks: another("staff_audit", `{"entry_id": ":m2", "roles": [null]}`),
			code: check, constraint: "audit_roles_are_a_list", allowed: another("staff_audit", `{"entry_id": ":m2", "roles": []}`),
		},
		{
			name: "an entry of the audit log has one place", given: `ALTER TABLE staff_audit DISABLE TRIGGER audit_is_chained`,
			breaks: deed, code: unique, constraint: "audit_one_per_position", allowed: another("staff_audit", `{"entry_id": ":m2", "position": 2}`),
		},
		{
			name: "the audit log names an action", breaks: another("staff_audit", `{"entry_id": ":m2", "action": ""}`),
			code: check, constraint: "audit_names_an_action", allowed: deed,
		},
		{
			name: "the audit log knows the outcome", breaks: another("staff_audit", `{"entry_id": ":m2", "outcome": "odd"}`),
			code: check, constraint: "audit_outcome_known", allowed: another("staff_audit", `{"entry_id": ":m2", "outcome": "refused"}`),
		},
		{
			name: "a note is written once", breaks: another("attempt_log", `{"what": "confirm"}`),
			code: unique, constraint: "log_once", allowed: entry,
		},
		{
			name: "a note is of a known kind", breaks: another("attempt_log", `{"entry_id": ":m2", "kind": "odd"}`),
			code: check, constraint: "log_kind_known", allowed: another("attempt_log", `{"entry_id": ":m2", "kind": "poll"}`),
		},
		{
			name: "a note happened", breaks: another("attempt_log", `{"entry_id": ":m2", "times": 0}`),
			code: check, constraint: "log_times_positive", allowed: entry,
		},
		{
			name: "a note ends after it begins", breaks: another("attempt_log", `{"entry_id": ":m2", "until": "2020-01-01"}`),
			code: check, constraint: "log_ends_after_it_begins", allowed: entry,
		},
	}
}
