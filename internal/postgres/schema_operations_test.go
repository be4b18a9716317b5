package postgres_test

// operationPromises are about the values of an operation, and the operations that may be open beside it.
func operationPromises() []promise {
	operation := func(changes string) string {
		return another("operations", `{"number": 1, "state": "done", "next_at": null`+changes+`}`)
	}
	open := func(changes string) string {
		return operation(`, "state": "wanted", "sends": 0, "fence": 0, "next_at": "2026-01-01"` + changes)
	}
	refused := func(name, breaks, code, constraint, allowed string) promise {
		return promise{name: name, breaks: breaks, code: code, constraint: constraint, allowed: allowed}
	}
	list := []promise{
		refused("an operation has a number of its own", operation(`, "number": 0`), unique, "operations_one_per_number", operation("")),
		refused("an operation's number is of its kind", operation(`, "number": 0`), unique, "operations_one_per_number", operation(`, "number": 0, "kind": "check"`)),
		refused("an operation counts from nought", operation(`, "number": -1`), check, "operations_number_counts", operation("")),
		refused("an operation sends no less than never", operation(`, "sends": -1`), check, "operations_sends_count", operation(`, "sends": 0`)),
		refused("an operation is not sent without a take", operation(`, "sends": 2`), check, "operations_fence_counts", operation(`, "sends": 2, "fence": 2`)),
		refused("an operation's tries count", operation(`, "tries": -1`), check, "operations_tries_count", operation(`, "tries": 0`)),
		refused("a refund's operation has a refund", operation(`, "kind": "refund"`), check, "operations_refund_has_one", operation(`, "kind": "refund", "refund_id": ":f1"`)),
		refused("an open operation is due", open(`, "attempt_id": ":a2", "next_at": null`), check, "operations_open_is_due", open(`, "attempt_id": ":a2"`)),
		refused("a closed operation is not due", operation(`, "next_at": "2026-01-01"`), check, "operations_open_is_due", operation("")),
		refused("a closed operation is not leased", operation(`, "lease_until": "2026-01-01"`), check, "operations_closed_is_free", operation("")),
		{
			name: "two refunds are open beside each other", given: open(`, "kind": "refund", "number": 0, "refund_id": ":f1"`),
			breaks: open(`, "kind": "refund", "refund_id": ":f1"`), code: unique, constraint: "operations_one_open_payment",
			allowed: open(`, "kind": "refund", "refund_id": ":f2"`),
		},
		{
			name: "a refund is not checked while it is made", given: open(`, "kind": "refund", "number": 0, "refund_id": ":f1"`),
			breaks: open(`, "kind": "check", "refund_id": ":f1"`), code: unique, constraint: "operations_one_open_payment", allowed: open(`, "kind": "check"`),
		},
	}
	for _, kind := range []string{"charge", "complete", "capture"} {
		for _, state := range []string{"wanted", "sent", "unknown", "accepted"} {
			changes := `, "kind": "` + kind + `", "state": "` + state + `"`
			list = append(list, refused("one taking operation is open, not a "+kind+" that is "+state, open(changes), unique, "operations_one_open_payment", open(changes+`, "attempt_id": ":a2"`)))
		}
		for _, state := range []string{"done", "refused", "not_sent", "withdrawn"} {
			list = append(list, refused("any number are closed, a "+kind+" that is "+state, open(`, "kind": "`+kind+`"`), unique, "operations_one_open_payment",
				operation(`, "kind": "`+kind+`", "state": "`+state+`"`)))
		}
	}
	for _, kind := range []string{"cancel", "check"} {
		list = append(list, promise{
			name: "one " + kind + " is open, beside a charge", given: open(`, "number": 0, "kind": "` + kind + `"`),
			breaks: open(`, "kind": "` + kind + `"`), code: unique, constraint: "operations_one_open_payment", allowed: operation(`, "kind": "` + kind + `"`),
		})
	}
	for column, known := range map[string][]string{
		"kind":   {"charge", "complete", "capture", "cancel", "check"},
		"origin": {"request", "policy", "order_cancel", "expiry", "person", "reconciler"},
		"state":  {"done", "refused", "not_sent", "withdrawn"},
	} {
		for _, value := range known {
			list = append(list, refused("an operation's "+column+" is known, as is "+value, operation(`, "`+column+`": "odd"`), check, "operations_"+column+"_known",
				operation(`, "`+column+`": "`+value+`"`)))
		}
	}
	return list
}

// operationMoves are about the changes of an operation. A pending attempt always has an open one.
func operationMoves() []promise {
	const set, done = `UPDATE operations SET `, `UPDATE operations SET state = 'done', next_at = NULL`
	const checked = `INSERT INTO operations (order_id, attempt_id, kind, number, account, origin, state, next_at, created_at)
		VALUES ('o1', ':a1', 'check', 0, 'acc', 'policy', 'wanted', now(), now()); `
	moves := []promise{
		{
			name: "an operation that is done stays done", given: failed + "; " + done, breaks: set + `state = 'refused'`,
			code: violated, constraint: "operations_only_forward", allowed: set + `result = 'paid'`,
		},
		{
			name: "an operation that is done does not open", given: failed + "; " + done, breaks: set + `state = 'unknown', next_at = now()`,
			code: violated, constraint: "operations_only_forward", allowed: set + `provider_ref = 'ref'`,
		},
		{
			name: "a fence does not go back", given: set + `fence = 3`, breaks: set + `fence = 2`,
			code: violated, constraint: "operations_only_forward", allowed: set + `fence = 4`,
		},
		{
			name: "operations are not deleted", breaks: `DELETE FROM operations`,
			code: violated, constraint: "operations_stay", allowed: set + `tries = 1`,
		},
		{
			name: "operations are not emptied", breaks: `TRUNCATE operations`,
			code: violated, constraint: "operations_stay", allowed: set + `tries = 1`,
		},
		{
			name: "a pending attempt is watched", breaks: done, code: violated, constraint: "attempts_are_watched", allowed: failed + "; " + done,
		},
		{
			name: "a pending attempt is watched by a check, too", breaks: done, code: violated, constraint: "attempts_are_watched",
			allowed: checked + done + " WHERE kind = 'charge'",
		},
		{
			name: "a refund does not watch an attempt", given: `INSERT INTO operations (order_id, attempt_id, kind, number, account, refund_id, origin, state, next_at, created_at)
				VALUES ('o1', ':a1', 'refund', 0, 'acc', ':f1', 'policy', 'wanted', now(), now())`,
			breaks: set + `state = 'done', next_at = NULL WHERE kind = 'charge'`, code: violated, constraint: "attempts_are_watched",
			allowed: set + `state = 'done', next_at = NULL WHERE kind = 'refund'`,
		},
		{
			name: "a new attempt is watched", given: failed,
			breaks: another("payment_attempts", `{"attempt_id": ":a2", "client_request_id": "r2", "status": "pending", "stage": "requested", "finalized_at": null}`),
			code:   violated, constraint: "attempts_are_watched",
			allowed: another("payment_attempts", `{"attempt_id": ":a2", "client_request_id": "r2"}`),
		},
	}
	for column, value := range map[string]string{
		"order_id": "'o2'", "attempt_id": "':a2'", "kind": "'capture'", "number": "1", "account": "'other'", "refund_id": "':f1'", "amount": "999", "origin": "'policy'",
	} {
		moves = append(moves, promise{
			name: "an operation's " + column + " never changes", breaks: set + column + ` = ` + value,
			code: violated, constraint: "operations_only_forward", allowed: set + column + ` = ` + column + `, state = 'accepted'`,
		})
	}
	return moves
}
