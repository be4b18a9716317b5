package postgres_test

import "fmt"

func merchantPromises() []promise {
	insert := func(number int, ids string) string {
		return fmt.Sprintf(`INSERT INTO account_merchants (account, number, kind, live, ids, credentials) VALUES ('shop', %d, 'adyen', true, '%s', '\x01')`, number, ids)
	}
	return []promise{
		{
			name: "a merchant of an account has a number of its own", given: insert(0, "{}"), breaks: insert(0, "{}"),
			code: unique, constraint: "account_merchants_one_per_number", allowed: insert(1, "{}"),
		},
		{
			name: "merchants are counted from 0", breaks: insert(-1, "{}"),
			code: check, constraint: "account_merchants_number_counts", allowed: insert(0, "{}"),
		},
		{
			name: "a merchant's ids have keys", breaks: insert(0, "[]"),
			code: check, constraint: "account_merchants_ids_known", allowed: insert(0, `{"merchant_account": "Shop"}`),
		},
	}
}
