package postgres_test

// movementPromises are about the money that was moved after a payment.
func movementPromises() []promise {
	next := another("money_movements", `{"number": 2, "provider_id": "dp_2"}`)
	total := another("money_movements", `{"number": 2, "source": "total", "provider_id": "", "amount": -500}`)
	refused := func(name, changes, code, constraint, allowed string) promise {
		return promise{name: name, breaks: another("money_movements", changes), code: code, constraint: constraint, allowed: allowed}
	}
	list := []promise{
		{
			name: "movements are not rewritten", breaks: `UPDATE money_movements SET amount = 1`,
			code: violated, constraint: "money_movements_append_only", allowed: next,
		},
		{
			name: "movements are not taken away", breaks: `DELETE FROM money_movements`,
			code: violated, constraint: "money_movements_append_only", allowed: next,
		},
		{
			name: "movements are not emptied", breaks: `TRUNCATE money_movements`,
			code: violated, constraint: "money_movements_append_only", allowed: next,
		},
		refused("a movement has a number of its own", `{"provider_id": "dp_2"}`, unique, "movements_one_per_number", next),
		refused("a movement counts from one", `{"number": 0, "provider_id": "dp_2"}`, check, "movements_number_counts", next),
		refused("a movement that is named is recorded once", `{"number": 2}`, unique, "movements_once", next),
		refused("a name is of one kind", `{"number": 2, "attempt_id": ":a2"}`, unique, "movements_once",
			another("money_movements", `{"number": 2, "attempt_id": ":a2", "kind": "chargeback_reversal"}`)),
		refused("a movement is of a known kind", `{"number": 2, "provider_id": "dp_2", "kind": "odd"}`, check, "movements_kind_known", next),
		refused("a movement is of a known source", `{"number": 2, "source": "odd", "provider_id": "dp_2"}`, check, "movements_source_known", total),
		refused("a movement knows its cause", `{"number": 2, "provider_id": "dp_2", "cause": "magic"}`, check, "movements_cause_known", next),
		refused("a named movement has a name", `{"number": 2, "provider_id": ""}`, check, "movements_named_have_names", next),
		refused("what a person recorded has a name", `{"number": 2, "provider_id": "", "source": "person"}`, check, "movements_named_have_names",
			another("money_movements", `{"number": 2, "provider_id": ":m1", "source": "person", "kind": "capture"}`)),
		refused("what a person recorded is not taken back", `{"number": 2, "provider_id": ":m1", "source": "person", "amount": -1}`, check, "movements_amount_moves", total),
		refused("what a person recorded is recorded once", `{"number": 2, "source": "person"}`, unique, "movements_once", total),
		refused("a total has none", `{"number": 2, "source": "total", "provider_id": "dp_2"}`, check, "movements_named_have_names", total),
		refused("a named movement is not taken back", `{"number": 2, "provider_id": "dp_2", "amount": -1}`, check, "movements_amount_moves", total),
		refused("a movement moves something", `{"number": 2, "source": "total", "provider_id": "", "amount": 0}`, check, "movements_amount_moves", total),
		{
			name: "an attempt counts its movements", breaks: `UPDATE payment_attempts SET movements = -1`,
			code: check, constraint: "attempts_movements_count", allowed: `UPDATE payment_attempts SET movements = 1`,
		},
	}
	for _, kind := range []string{"authorization", "release", "capture", "capture_reversal", "refund", "refund_reversal", "chargeback", "chargeback_reversal"} {
		for _, source := range []string{`"named", "provider_id": "id_2"`, `"total", "provider_id": ""`, `"person", "provider_id": ":m1"`} {
			of := `{"number": 2, "kind": "` + kind + `", "source": ` + source
			list = append(list, refused("a movement moves, as does a "+kind+" of source "+source[:8], of+`, "amount": 0}`, check, "movements_amount_moves", another("money_movements", of+`}`)))
		}
	}
	return list
}
