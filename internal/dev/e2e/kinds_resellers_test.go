package e2e_test

import "fmt"

// resellerLives are the lives of providers that sell in their own name.
func resellerLives() []life { return []life{paddleLife(), lemonsqueezyLife()} }

func paddleLife() life {
	transaction := func(id, status, then string) telling {
		return telling{
			sample: "paddle/constructed_transaction." + status + ".json", then: then,
			body: `{"event_id":"evt_` + id + `$n","event_type":"transaction.` + status + `","data":{"id":"txn_$n","status":"` + status + `","custom_data":$metadata,` +
				`"currency_code":"EUR","details":{"totals":{"grand_total":"1999"}}}}`,
		}
	}
	adjustment := func(sample, id, name, adjustment, action, status string, total int, then string) telling {
		return telling{
			sample: "paddle/constructed_adjustment." + sample + ".json", then: then,
			body: fmt.Sprintf(`{"event_id":"evt_%s$n","event_type":"adjustment.%s","data":{"id":"adj_%s$n","action":%q,"status":%q,"transaction_id":"txn_$n",`+
				`"currency_code":"EUR","totals":{"total":"%d"}}}`, id, name, adjustment, action, status, total),
		}
	}
	return life{
		name: "paddle", moved: []string{"capture 1999", "refund 700", "chargeback 1299"}, open: []string{"payment_reversed"},
		tells: []telling{
			transaction("1", "paid", "succeeded 1999 0 0"),
			transaction("2", "completed", "succeeded 1999 0 0"),
			adjustment("refund_pending_approval", "3", "created", "1", "refund", "pending_approval", 700, "succeeded 1999 0 0"),
			adjustment("refund_approved", "4", "updated", "1", "refund", "approved", 700, "succeeded 1999 700 0"),
			adjustment("chargeback_approved", "5", "updated", "2", "chargeback", "approved", 1299, "succeeded 1999 700 1299"),
		},
	}
}

func lemonsqueezyOrder(name, status string, refunded, at int) string {
	return fmt.Sprintf(`{"meta":{"event_name":%q,"test_mode":true,"custom_data":$metadata},"data":{"type":"orders","id":"$n","attributes":{"identifier":"order-$n","status":%q,`+
		`"currency":"EUR","total":1999,"refunded_amount":%d,"updated_at":"2026-01-02T12:00:0%d.000000Z"}}}`, name, status, refunded, at)
}

func lemonsqueezyLife() life {
	const sample = "lemonsqueezy/constructed_order_created.json"
	return life{
		name: "lemonsqueezy", moved: []string{"capture 1999", "refund 1999"},
		tells: []telling{
			{sample: sample, body: lemonsqueezyOrder("order_created", "paid", 0, 1), then: "succeeded 1999 0 0"},
			{sample: sample, body: lemonsqueezyOrder("order_refunded", "partial_refund", 700, 2), then: "succeeded 1999 700 0"},
			{sample: sample, body: lemonsqueezyOrder("order_refunded", "refunded", 1999, 3), then: "succeeded 1999 1999 0"},
		},
	}
}
