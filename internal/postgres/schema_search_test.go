package postgres_test

func searchPromises() []promise {
	return []promise{
		{
			name: "an order is searched as one row", breaks: another("search_orders", `{}`),
			code: unique, constraint: "search_orders_pkey", allowed: another("search_orders", `{"order_id": "o2"}`),
		},
		{
			name: "a payment is searched as one row", breaks: another("search_payments", `{}`),
			code: unique, constraint: "search_payments_pkey", allowed: another("search_payments", `{"attempt_id": ":a2"}`),
		},
		{
			name: "a card is searched by four digits alone", breaks: `UPDATE search_payments SET last_four = '4242424242424242'`,
			code: check, constraint: "search_last_four_are_digits", allowed: `UPDATE search_payments SET last_four = '4242'`,
		},
		{
			name: "a source of the search is read to one place", breaks: `UPDATE search_cursors SET source = 'orders' WHERE source = 'events'`,
			code: unique, constraint: "search_cursors_pkey", allowed: `UPDATE search_cursors SET id = 'x' WHERE source = 'events'`,
		},
		{
			name: "a source of the search is a known one", breaks: `UPDATE search_cursors SET source = 'rumours' WHERE source = 'events'`,
			code: check, constraint: "search_cursors_source_known", allowed: `UPDATE search_cursors SET at = now() WHERE source = 'events'`,
		},
	}
}
