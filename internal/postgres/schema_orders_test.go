package postgres_test

func orderPromises() []promise {
	const amended = `UPDATE orders SET amount = 999, original = '{}', revision = revision + 1`
	second := func(changes string) string {
		return another("orders", `{"order_id": "o2", "client_request_id": "r2"`+changes+`}`)
	}
	return []promise{
		{
			name: "an order's id is taken once", breaks: another("orders", `{"client_request_id": "r2"}`),
			code: unique, constraint: "orders_pkey", allowed: second(""),
		},
		{
			name: "a request makes one order", breaks: another("orders", `{"order_id": "o2"}`),
			code: unique, constraint: "orders_one_per_request", allowed: another("orders", `{"order_id": "o2", "user_id": "u2"}`),
		},
		{
			name: "an order has an id", breaks: another("orders", `{"order_id": "", "client_request_id": "r2"}`),
			code: check, constraint: "orders_id_length", allowed: second(""),
		},
		{
			name: "an order has a user", breaks: second(`, "user_id": ""`),
			code: check, constraint: "orders_have_a_user", allowed: second(`, "user_id": "u2"`),
		},
		{
			name: "an order is not for nothing", breaks: second(`, "amount": 0`),
			code: check, constraint: "orders_amount_positive", allowed: second(`, "amount": 1`),
		},
		{
			name: "an order is not for less than nothing", breaks: second(`, "amount": -1`),
			code: check, constraint: "orders_amount_positive", allowed: second(`, "amount": 1`),
		},
		{
			name: "an amount stays exact as a double", breaks: second(`, "amount": 1000000000001`),
			code: check, constraint: "orders_amount_positive", allowed: second(`, "amount": 1000000000000`),
		},
		{
			name: "a currency is in upper case", breaks: second(`, "currency": "usd"`),
			code: check, constraint: "orders_currency_iso", allowed: second(`, "currency": "USD"`),
		},
		{
			name: "a currency has three letters", breaks: second(`, "currency": "USDT"`),
			code: check, constraint: "orders_currency_iso", allowed: second(`, "currency": "USD"`),
		},
		{
			name: "an order's price is set by a service or a customer", breaks: second(`, "created_by": "support"`),
			code: check, constraint: "orders_created_by", allowed: second(`, "created_by": "service"`),
		},
		orderTerm("created_by", "CASE created_by WHEN 'service' THEN 'customer' ELSE 'service' END"),
		orderTerm("amount", "999"),
		orderTerm("currency", "'USD'"),
		orderTerm("user_id", "'u2'"),
		orderTerm("order_id", "'o2'"),
		{
			name: "an order with a payment under way is not amended", breaks: amended,
			code: violated, constraint: "orders_terms_fixed", allowed: failed + `; ` + amended,
		},
		{
			name: "an amendment keeps the first terms", given: failed, breaks: `UPDATE orders SET amount = 999, revision = revision + 1`,
			code: violated, constraint: "orders_terms_fixed", allowed: amended,
		},
		{
			name: "an amendment is counted", given: failed, breaks: `UPDATE orders SET amount = 999, original = '{}'`,
			code: violated, constraint: "orders_terms_fixed", allowed: amended,
		},
		{
			name: "an amendment leaves the customer", given: failed, breaks: amended + `, user_id = 'u2'`,
			code: violated, constraint: "orders_terms_fixed", allowed: amended,
		},
		{
			name: "a cancelled order is not amended", given: failed + `; UPDATE orders SET cancel_requested_at = now()`, breaks: amended,
			code: violated, constraint: "orders_terms_fixed", allowed: `UPDATE orders SET description = 'x'`,
		},
		{
			name: "an order with attempts stays", breaks: `DELETE FROM orders`,
			code: foreign, constraint: "attempts_have_an_order",
			allowed: second("") + `; DELETE FROM orders WHERE order_id = 'o2'`,
		},
	}
}

func orderTerm(column, value string) promise {
	return promise{
		name: "an order's " + column + " never changes", breaks: `UPDATE orders SET ` + column + ` = ` + value,
		code: violated, constraint: "orders_terms_fixed", allowed: `UPDATE orders SET ` + column + ` = ` + column + `, cancel_requested_at = now()`,
	}
}
