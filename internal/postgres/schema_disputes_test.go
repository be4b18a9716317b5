package postgres_test

func disputePromises() []promise {
	const set = `UPDATE disputes SET version = version + 1, `
	second := func(changes string) string {
		return another("disputes", `{"dispute_id": ":f2", "provider_dispute_id": "dp_2"`+changes+`}`)
	}
	return []promise{
		{
			name: "a dispute's id is taken once", breaks: second(`, "dispute_id": ":f1"`),
			code: unique, constraint: "disputes_pkey", allowed: second(""),
		},
		{
			name: "a provider's dispute is one row", breaks: second(`, "provider_dispute_id": "dp_1"`),
			code: unique, constraint: "disputes_one_per_provider_id", allowed: second(`, "provider_dispute_id": "dp_1", "account": "other"`),
		},
		{
			name: "a dispute has a name", breaks: second(`, "provider_dispute_id": ""`),
			code: check, constraint: "disputes_have_a_name", allowed: second(""),
		},
		{
			name: "a dispute is of an attempt", breaks: second(`, "attempt_id": ":a2"`),
			code: foreign, constraint: "disputes_have_an_attempt", allowed: second(""),
		},
		{
			name: "a dispute's status is a known one", breaks: set + `status = 'odd'`,
			code: check, constraint: "disputes_status_known", allowed: set + `status = 'under_review'`,
		},
		{
			name: "a dispute is not of less than nothing", breaks: set + `amount = -1`,
			code: check, constraint: "disputes_amount_not_negative", allowed: set + `amount = 0`,
		},
		{
			name: "a dispute's amount has a currency", breaks: set + `currency = NULL`,
			code: check, constraint: "disputes_amount_has_a_currency", allowed: set + `currency = NULL, amount = NULL`,
		},
		{
			name: "a dispute's versions begin at one", breaks: second(`, "version": 0`),
			code: check, constraint: "disputes_version_counts", allowed: second(`, "version": 1`),
		},
		{
			name: "a closed dispute says since when", breaks: set + `status = 'lost'`,
			code: check, constraint: "disputes_closed_time", allowed: set + `status = 'lost', closed_at = now()`,
		},
		{
			name: "an open dispute is not closed since", breaks: set + `closed_at = now()`,
			code: check, constraint: "disputes_closed_time", allowed: set + `closed_at = NULL`,
		},
		{
			name: "a dispute's version rises", breaks: `UPDATE disputes SET status = 'under_review'`,
			code: violated, constraint: "disputes_only_forward", allowed: set + `status = 'under_review'`,
		},
		{
			name: "a dispute's clock does not go back", given: set + `status_at = now()`, breaks: set + `status_at = now() - interval '1 s'`,
			code: violated, constraint: "disputes_only_forward", allowed: set + `status_at = now() + interval '1 s'`,
		},
		disputeTerm("order_id", "'o2'"),
		disputeTerm("dispute_id", "':f2'"),
		disputeTerm("attempt_id", "':a2'"),
		disputeTerm("account", "'other'"),
		disputeTerm("provider_dispute_id", "'dp_2'"),
		disputeTerm("opened_at", "now() + interval '1 s'"),
	}
}

func disputeTerm(column, value string) promise {
	const set = `UPDATE disputes SET version = version + 1, `
	return promise{
		name: "a dispute's " + column + " never changes", breaks: set + column + ` = ` + value,
		code: violated, constraint: "disputes_terms_fixed", allowed: set + column + ` = ` + column,
	}
}

// disputeMovePromises are about the reported moves of disputes' money.
func disputeMovePromises() []promise {
	next := another("dispute_moves", `{"number": 2}`)
	refused := func(name, changes, code, constraint string) promise {
		return promise{name: name, breaks: another("dispute_moves", changes), code: code, constraint: constraint, allowed: next}
	}
	list := []promise{
		refused("what a dispute moved has a number of its own", `{"amount": 1}`, unique, "dispute_moves_one_per_number"),
		refused("what a dispute moved counts from one", `{"number": 0}`, check, "dispute_moves_number_counts"),
		refused("what a dispute moved has a dispute", `{"number": 2, "dispute": ""}`, check, "dispute_moves_have_a_dispute"),
		refused("what a dispute moved is of an attempt", `{"number": 2, "attempt_id": ":a2"}`, foreign, "dispute_moves_have_an_attempt"),
		refused("a dispute takes or returns", `{"number": 2, "kind": "refund"}`, check, "dispute_moves_kind_known"),
		refused("a dispute moves no less than nothing", `{"number": 2, "amount": -1}`, check, "dispute_moves_amount_not_negative"),
		refused("what a dispute moved has a currency", `{"number": 2, "currency": null}`, check, "dispute_moves_amount_has_a_currency"),
	}
	for name, statement := range map[string]string{
		"rewritten": `UPDATE dispute_moves SET amount = 1`, "taken away": `DELETE FROM dispute_moves`, "emptied": `TRUNCATE dispute_moves`,
	} {
		list = append(list, promise{name: "what a dispute moved is not " + name, breaks: statement, code: violated, constraint: "dispute_moves_append_only", allowed: next})
	}
	return list
}
