package postgres_test

// logPromises are about the records of an attempt: names, log, updates, discrepancies.
func logPromises() []promise {
	nextVersion := another("attempt_transitions", `{"version": 2}`)
	return []promise{
		{
			name: "a reference names one attempt", given: failed + `; ` + another("payment_attempts", `{"attempt_id": ":a2", "client_request_id": "r2"}`),
			breaks: another("attempt_references", `{"attempt_id": ":a2"}`),
			code:   unique, constraint: "references_one_attempt",
			allowed: another("attempt_references", `{"attempt_id": ":a2", "account": "other"}`),
		},
		{
			name: "a reference names an attempt that exists", breaks: another("attempt_references", `{"reference": "pp_1", "attempt_id": ":a2"}`),
			code: foreign, constraint: "references_have_an_attempt", allowed: another("attempt_references", `{"reference": "pp_1"}`),
		},
		{
			name: "the log is not rewritten", breaks: `UPDATE attempt_transitions SET cause_id = 'x'`,
			code: violated, constraint: "attempt_transitions_append_only", allowed: nextVersion,
		},
		{
			name: "the log is not shortened", breaks: `DELETE FROM attempt_transitions`,
			code: violated, constraint: "attempt_transitions_append_only", allowed: nextVersion,
		},
		{
			name: "the log is not emptied", breaks: `TRUNCATE attempt_transitions`,
			code: violated, constraint: "attempt_transitions_append_only", allowed: nextVersion,
		},
		{
			name: "the log does not go with its attempts", breaks: `TRUNCATE payment_attempts CASCADE`,
			code: foreign, constraint: "attempts_with_a_log_all_stay", allowed: nextVersion,
		},
		{
			name: "a version is logged once", breaks: another("attempt_transitions", `{"to_stage": "final"}`),
			code: unique, constraint: "transitions_one_per_version", allowed: nextVersion,
		},
		{
			name: "the log knows the cause", breaks: another("attempt_transitions", `{"version": 2, "cause": "magic"}`),
			code: check, constraint: "transitions_cause_known", allowed: nextVersion,
		},
		{
			name: "an event is written once", breaks: another("outbox", `{"version": 3}`),
			code: unique, constraint: "outbox_once", allowed: another("outbox", `{"message_id": ":m2", "nth": 2}`),
		},
		{
			name: "a batch has one event at each place", breaks: another("outbox", `{"message_id": ":m2"}`),
			code: unique, constraint: "outbox_in_order", allowed: another("outbox", `{"message_id": ":m2", "nth": 2}`),
		},
		{
			name: "a batch has one number", breaks: another("outbox_batches", `{"events": 2}`),
			code: unique, constraint: "outbox_batches_pkey", allowed: another("outbox_batches", `{"batch": 8}`),
		},
		{
			name: "a batch has events", breaks: another("outbox_batches", `{"batch": 8, "events": 0}`),
			code: check, constraint: "outbox_batches_count", allowed: another("outbox_batches", `{"batch": 8}`),
		},
		{
			name: "an event never changes", breaks: `UPDATE outbox SET type = 'payment_attempt.succeeded'`,
			code: violated, constraint: "outbox_never_changes", allowed: `UPDATE outbox_batches SET last = 1`,
		},
		{
			name: "a batch never changes", breaks: `UPDATE outbox_batches SET events = 2, last = 2`,
			code: violated, constraint: "outbox_never_changes", allowed: `UPDATE outbox_batches SET last = 1`,
		},
		{
			name: "a position is given once", breaks: `UPDATE outbox_batches SET last = 1; UPDATE outbox_batches SET last = 2`,
			code: violated, constraint: "outbox_never_changes", allowed: `UPDATE outbox_batches SET last = 1`,
		},
		{
			name: "a position is of one batch", breaks: `UPDATE outbox_batches SET last = 1; ` + another("outbox_batches", `{"batch": 8}`),
			code: unique, constraint: "outbox_batches_by_last", allowed: `UPDATE outbox_batches SET last = 1; ` + another("outbox_batches", `{"batch": 8, "last": 2}`),
		},
		{
			name: "the outbox's head is one row", breaks: `UPDATE outbox_head SET one = false`,
			code: check, constraint: "outbox_head_is_one", allowed: `UPDATE outbox_head SET last = last + 1`,
		},
		{
			name: "the outbox's head counts", breaks: `UPDATE outbox_head SET last = -1`,
			code: check, constraint: "outbox_head_counts", allowed: `UPDATE outbox_head SET last = last + 1`,
		},
		{
			name: "the outbox has one head", breaks: `INSERT INTO outbox_head (last) VALUES (1)`,
			code: unique, constraint: "outbox_head_pkey", allowed: `UPDATE outbox_head SET last = last + 1`,
		},
		{
			name: "an epoch of the feed is one row", given: `INSERT INTO feed_epochs (epoch, shared) VALUES (5, 0)`,
			breaks: `INSERT INTO feed_epochs (epoch, shared) VALUES (5, 1)`,
			code:   unique, constraint: "feed_epochs_pkey", allowed: `INSERT INTO feed_epochs (epoch, shared) VALUES (6, 1)`,
		},
		{
			name: "an epoch of the feed begins behind a position", breaks: `INSERT INTO feed_epochs (epoch, shared) VALUES (5, -1)`,
			code: check, constraint: "feed_epochs_shared", allowed: `INSERT INTO feed_epochs (epoch, shared) VALUES (5, 0)`,
		},
		{
			name: "a discrepancy has one id", breaks: another("discrepancies", `{"kind": "late_success"}`),
			code: unique, constraint: "discrepancies_pkey", allowed: another("discrepancies", `{"discrepancy_id": ":m2", "kind": "late_success"}`),
		},
		{
			name: "a discrepancy is of a known kind", breaks: another("discrepancies", `{"discrepancy_id": ":m2", "kind": "odd"}`),
			code: check, constraint: "discrepancies_kind_known", allowed: another("discrepancies", `{"discrepancy_id": ":m2", "kind": "needs_review"}`),
		},
		discrepancyOnce("with attempt and event", `{}`),
		discrepancyOnce("with an attempt alone", `{"account": "", "provider_event_id": null}`),
		discrepancyOnce("with an event alone", `{"order_id": null, "attempt_id": null}`),
		{
			name: "an attempt has one open dispute", breaks: another("discrepancies", `{"discrepancy_id": ":m2", "about": "evt_2"}`),
			code: unique, constraint: "discrepancies_one_open_dispute",
			allowed: `UPDATE discrepancies SET resolved_at = now(), resolution = 'accepted'; ` +
				another("discrepancies", `{"discrepancy_id": ":m2", "about": "evt_2", "resolved_at": null, "resolution": ""}`),
		},
		{
			name: "a dispute has one open discrepancy", given: `UPDATE discrepancies SET about = 'dispute', about_id = 'warning dp_1'`,
			breaks: another("discrepancies", `{"discrepancy_id": ":m2", "about_id": "open dp_1"}`),
			code:   unique, constraint: "discrepancies_one_open_dispute", allowed: another("discrepancies", `{"discrepancy_id": ":m2", "about_id": "open dp_2"}`),
		},
		{
			name: "a discrepancy is resolved somehow", breaks: `UPDATE discrepancies SET resolved_at = now()`,
			code: check, constraint: "discrepancies_resolved_how", allowed: `UPDATE discrepancies SET resolved_at = now(), resolution = 'paid'`,
		},
		{
			name: "a proposal is somebody's", breaks: `UPDATE discrepancies SET proposed_at = now()`,
			code: check, constraint: "discrepancies_proposed_by_a_person", allowed: `UPDATE discrepancies SET proposed_at = now(), proposed_by = 'kim'`,
		},
		{
			name: "what is proposed is a known resolution of somebody's", breaks: `UPDATE discrepancies SET proposed_resolution = 'paid'`,
			code: check, constraint: "discrepancies_proposed_how",
			allowed: `UPDATE discrepancies SET proposed_at = now(), proposed_by = 'kim', proposed_resolution = 'not_paid'`,
		},
		{
			name: "a resolution is a known one", breaks: `UPDATE discrepancies SET resolved_at = now(), resolution = 'done'`,
			code: check, constraint: "discrepancies_resolution_listed", allowed: `UPDATE discrepancies SET resolved_at = now(), resolution = 'settled'`,
		},
		{
			name: "an account is heard once", breaks: another("account_webhooks", `{}`),
			code: unique, constraint: "account_webhooks_pkey", allowed: another("account_webhooks", `{"account": "other"}`),
		},
		{
			name: "two causes of one kind are two", breaks: another("discrepancies", `{"discrepancy_id": ":m2", "kind": "needs_review", "about": "hold", "order_id": null, "attempt_id": null}`) +
				"; " + another("discrepancies", `{"discrepancy_id": ":m3", "kind": "needs_review", "about": "hold", "order_id": null, "attempt_id": null}`),
			code: unique, constraint: "discrepancies_once",
			allowed: another("discrepancies", `{"discrepancy_id": ":m2", "kind": "needs_review", "about": "hold"}`) +
				"; " + another("discrepancies", `{"discrepancy_id": ":m3", "kind": "needs_review", "about": "hold", "about_id": "f1"}`),
		},
		discrepancyOnce("with neither", `{"order_id": null, "attempt_id": null, "account": "", "provider_event_id": null}`),
	}
}

// discrepancyOnce tries the same cause a second time, after it was resolved,
// too.
func discrepancyOnce(what, cause string) promise {
	return promise{
		name: "a discrepancy " + what + " is opened once",
		given: `CREATE TEMP TABLE cause ON COMMIT DROP AS SELECT n.* FROM discrepancies d, jsonb_populate_record(d, '` + cause + `') n;
			DELETE FROM discrepancies; INSERT INTO discrepancies SELECT * FROM cause;
			UPDATE discrepancies SET resolved_at = now(), resolution = 'accepted'`,
		breaks: another("discrepancies", `{"discrepancy_id": ":m2", "resolved_at": null, "resolution": ""}`),
		code:   unique, constraint: "discrepancies_once",
		allowed: another("discrepancies", `{"discrepancy_id": ":m2", "about": "another amount"}`),
	}
}
