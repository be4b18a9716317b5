package postgres_test

func reconciliationPromises() []promise {
	run := func(changes string) string {
		return another("reconciliations", `{"reconciliation_id": ":f2"`+changes+`}`)
	}
	settled := func(changes string) string {
		return another("settlements", `{"entry_id": "e2"`+changes+`}`)
	}
	paid := func(changes string) string {
		return another("payouts", `{"payout_id": ":f2", "provider_payout_id": "po_2"`+changes+`}`)
	}
	entered := func(changes string) string {
		return another("account_entries", `{"entry_id": "e2"`+changes+`}`)
	}
	const set, fill = `UPDATE settlements SET `, `UPDATE account_entries SET `
	return []promise{
		{
			name: "a payout's id is taken once", breaks: paid(`, "payout_id": ":f1"`),
			code: unique, constraint: "payouts_pkey", allowed: paid(""),
		},
		{
			name: "a provider's payout is one row", breaks: paid(`, "provider_payout_id": "po_1"`),
			code: unique, constraint: "payouts_once", allowed: paid(`, "provider_payout_id": "po_1", "account": "other"`),
		},
		{
			name: "a payout has a name", breaks: paid(`, "provider_payout_id": ""`),
			code: check, constraint: "payouts_named", allowed: paid(""),
		},
		{
			name: "a payout's status is a known one", breaks: paid(`, "status": "lost"`),
			code: check, constraint: "payouts_status_known", allowed: paid(`, "status": "paid"`),
		},
		{
			name: "a payout's version counts from 1", breaks: paid(`, "version": 0`),
			code: check, constraint: "payouts_version_positive", allowed: paid(`, "version": 1`),
		},
		{
			name: "a payout's amount has a currency", breaks: paid(`, "amount": 5`),
			code: check, constraint: "payouts_money", allowed: paid(`, "amount": 5, "currency": "EUR"`),
		},
		{
			name: "a run's id is taken once", breaks: run(`, "reconciliation_id": ":f1"`),
			code: unique, constraint: "reconciliations_pkey", allowed: run(""),
		},
		{
			name: "a run's source is a known one", breaks: run(`, "source": "rumour"`),
			code: check, constraint: "reconciliations_source_known", allowed: run(`, "source": "file"`),
		},
		{
			name: "a run's span has a length", breaks: run(`, "to_at": "2026-01-01T00:00:00Z"`),
			code: check, constraint: "reconciliations_span", allowed: run(`, "to_at": "2026-01-01T00:00:01Z"`),
		},
		{
			name: "who compares by hand has a reason", breaks: run(`, "source": "person"`),
			code: check, constraint: "reconciliations_by_hand_why", allowed: run(`, "source": "person", "reason": "x"`),
		},
		{
			name: "an entry of an account is one row", breaks: settled(`, "entry_id": "e1"`),
			code: unique, constraint: "settlements_once", allowed: settled(`, "entry_id": "e1", "account": "other"`),
		},
		{
			name: "a settlement's kind is a known one", breaks: settled(`, "kind": "tip"`),
			code: check, constraint: "settlements_kind_known", allowed: settled(`, "kind": "refund"`),
		},
		{
			name: "a settlement is of an attempt", breaks: settled(`, "attempt_id": ":a2"`),
			code: foreign, constraint: "settlements_have_an_attempt", allowed: settled(""),
		},
		{
			name: "a fee has a currency", breaks: settled(`, "fee": 5`),
			code: check, constraint: "settlements_balance", allowed: settled(`, "fee": 5, "balance_currency": "EUR"`),
		},
		{
			name: "an entry without a payment is one row", breaks: entered(`, "entry_id": "e1"`),
			code: unique, constraint: "account_entries_once", allowed: entered(`, "entry_id": "e1", "account": "other"`),
		},
		{
			name: "an entry without a payment has a name", breaks: entered(`, "entry_id": ""`),
			code: check, constraint: "account_entries_named", allowed: entered(""),
		},
		{
			name: "an entry without a payment is of a known kind", breaks: entered(`, "kind": "tip"`),
			code: check, constraint: "account_entries_kind_known", allowed: entered(`, "kind": "reserve"`),
		},
		{
			name: "the fee of an entry without a payment has a currency", breaks: entered(`, "fee": 5`),
			code: check, constraint: "account_entries_balance", allowed: entered(`, "fee": 5, "balance_currency": "EUR"`),
		},
		{
			name: "of an entry without a payment only the payout, the fee and the net are filled", breaks: fill + `payout_id = 'po_1', amount = 5`,
			code: violated, constraint: "settlements_fixed", allowed: fill + `payout_id = 'po_1', net = 5, balance_currency = 'EUR'`,
		},
		{
			name: "an empty payout, fee or net is filled", breaks: set + `payout_id = 'po_1', amount = 5`,
			code: violated, constraint: "settlements_fixed", allowed: set + `payout_id = 'po_1', fee = 1, net = 5, balance_currency = 'EUR'`,
		},
		{
			name: "a net stays", given: set + `net = 5, balance_currency = 'EUR'`, breaks: set + `net = 6`,
			code: violated, constraint: "settlements_fixed", allowed: settled(`, "net": 6, "balance_currency": "EUR"`),
		},
		{
			name: "a fee stays", given: set + `fee = 5, balance_currency = 'EUR'`, breaks: set + `fee = NULL`,
			code: violated, constraint: "settlements_fixed", allowed: set + `net = 6`,
		},
		{
			name: "a balance keeps its currency", given: set + `fee = 5, balance_currency = 'EUR'`, breaks: set + `net = 6, balance_currency = 'USD'`,
			code: violated, constraint: "settlements_fixed", allowed: set + `net = 6`,
		},
		{
			name: "a payout stays", given: set + `payout_id = 'po_1'`, breaks: set + `payout_id = 'po_2'`,
			code: violated, constraint: "settlements_fixed", allowed: settled(`, "payout_id": "po_2"`),
		},
	}
}
