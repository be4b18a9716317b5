package e2e_test

import "fmt"

// walletLives are those of providers of whose webhooks only what the provider then answers counts.
func walletLives() []life { return []life{mollieLife(), paypalLife()} }

// mollieLife is told by classic notices, which are not signed, and of its refund by a signed event.
func mollieLife() life {
	payment := func(status, rest string) map[string]string {
		return map[string]string{"GET /v2/payments/tr_$n": `{"resource":"payment","id":"tr_$n","mode":"test","status":"` + status + `","amount":{"value":"19.99","currency":"EUR"},"metadata":$metadata` + rest + `}`}
	}
	const classic = "id=tr_$n"
	return life{
		name: "mollie", captures: true, moved: capturedOnce("refund 700", "chargeback 1299"), open: []string{"payment_reversed"}, ordered: true, nameless: true,
		tells: []telling{
			{body: classic, answers: payment("authorized", ""), then: "authorized 0 0 0"},
			{body: classic, answers: payment("paid", ""), then: "succeeded 1999 0 0"},
			{
				sample: "mollie/nextgen_simple_payment.paid.json", then: "succeeded 1999 700 0",
				body: `{"resource":"event","id":"event_$n","type":"refund.refunded","entityId":"re_$n","_links":{"entity":{"href":"https://api.mollie.com/v2/payments/tr_$n/refunds/re_$n"}}}`,
				answers: map[string]string{
					"GET /v2/payments/tr_$n/refunds/re_$n": `{"resource":"refund","id":"re_$n","paymentId":"tr_$n","status":"refunded","amount":{"value":"7.00","currency":"EUR"},"metadata":null}`,
				},
			},
			{
				body: classic, then: "succeeded 1999 700 1299",
				answers: payment("paid", `,"amountRefunded":{"value":"7.00","currency":"EUR"},"amountChargedBack":{"value":"12.99","currency":"EUR"},"_embedded":{"chargebacks":[`+
					`{"resource":"chargeback","id":"chb_$n","paymentId":"tr_$n","amount":{"value":"12.99","currency":"EUR"},"createdAt":"2026-01-03T12:00:00+00:00","reversedAt":null}]}`),
			},
		},
	}
}

// paypalLife is of an order that the shop authorises and captures by calls of its own. Its webhooks name captures and
// authorizations; the order is found by them.
func paypalLife() life {
	const missing = `404 {"name":"RESOURCE_NOT_FOUND","message":"The specified resource does not exist.","details":[{"issue":"INVALID_RESOURCE_ID"}]}`
	order := func(status, payments string) string {
		return `{"id":"ORDER$n","status":"` + status + `","purchase_units":[{"custom_id":"$text","payments":{` + payments + `}}]}`
	}
	part := func(id, status, value string) string {
		return fmt.Sprintf(`{"id":%q,"status":%q,"custom_id":"$text","amount":{"currency_code":"EUR","value":%q},"supplementary_data":{"related_ids":{"order_id":"ORDER$n"}}}`, id, status, value)
	}
	held, taken := part("AUTH$n", "CREATED", "19.99"), part("CAP$n", "COMPLETED", "19.99")
	const refund = `{"id":"REF$n","status":"COMPLETED","amount":{"currency_code":"EUR","value":"7.00"},"links":[{"rel":"up","href":"https://api.paypal.com/v2/payments/captures/CAP$n","method":"GET"}]}`
	event := func(id, name, resource string) string {
		return `{"id":"WH-` + id + `-$n","event_type":"` + name + `","resource":` + resource + `}`
	}
	captured := order("COMPLETED", `"authorizations":[`+part("AUTH$n", "CAPTURED", "19.99")+`],"captures":[`+taken+`]`)
	return life{
		name: "paypal", captures: true, moved: capturedOnce("refund 700", "chargeback 1299"), open: []string{"payment_reversed"},
		tells: []telling{
			{
				body: event("1", "PAYMENT.AUTHORIZATION.CREATED", held), then: "authorized 0 0 0",
				answers: map[string]string{
					"GET /v2/checkout/orders/AUTH$n": missing, "GET /v2/payments/captures/AUTH$n": missing, "GET /v2/payments/authorizations/AUTH$n": held,
					"GET /v2/checkout/orders/ORDER$n": order("COMPLETED", `"authorizations":[`+held+`]`),
				},
			},
			{
				sample: "paypal/v2_PAYMENT.CAPTURE.COMPLETED.json", then: "succeeded 1999 0 0",
				body: event("2", "PAYMENT.CAPTURE.COMPLETED", taken),
				answers: map[string]string{
					"GET /v2/checkout/orders/CAP$n": missing, "GET /v2/payments/captures/CAP$n": taken, "GET /v2/checkout/orders/ORDER$n": captured,
				},
			},
			{
				sample: "paypal/v2_PAYMENT.CAPTURE.REFUNDED.json", then: "succeeded 1999 700 0",
				body: event("3", "PAYMENT.CAPTURE.REFUNDED", refund), answers: map[string]string{"GET /v2/payments/refunds/REF$n": refund},
			},
			{
				sample: "paypal/CUSTOMER.DISPUTE.RESOLVED.json", then: "succeeded 1999 700 1299",
				body: event("4", "CUSTOMER.DISPUTE.RESOLVED", `{"dispute_id":"PP-$n","status":"RESOLVED","disputed_transactions":[{"seller_transaction_id":"CAP$n"}],`+
					`"dispute_amount":{"currency_code":"EUR","value":"12.99"},"dispute_outcome":{"outcome_code":"RESOLVED_BUYER_FAVOUR","amount_refunded":{"currency_code":"EUR","value":"12.99"}}}`),
			},
		},
	}
}
