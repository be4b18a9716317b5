package e2e_test

import "fmt"

// capturedOnce are the movements of a payment that was on hold, captured, and lost in two parts.
func capturedOnce(rest ...string) []string {
	return append([]string{"authorization 1999", "capture 1999"}, rest...)
}

// cardLives are the lives of providers whose signed webhooks contain the whole state.
func cardLives() []life {
	return []life{
		stripeLife(), stripeCheckoutLife(), adyenLife(), checkoutLife(), squareLife(), razorpayLife(), braintreeLife(),
		standardLife("standard"), standardLife("sandbox"),
	}
}

// stripeEvent is an event of Stripe's about an object.
func stripeEvent(id, name, object string) string {
	return `{"id":"evt_` + id + `$n","type":"` + name + `","data":{"object":` + object + `}}`
}

func stripeLife() life {
	refund := func(id, name, status string) telling {
		return telling{
			sample: "stripe/" + name + ".json",
			body:   stripeEvent(id, name, `{"id":"re_$n","object":"refund","amount":700,"currency":"eur","payment_intent":"pi_$n","charge":"ch_$n","status":"`+status+`"}`),
		}
	}
	created, updated := refund("3", "refund.created", "pending"), refund("4", "refund.updated", "succeeded")
	created.then, updated.then = "succeeded 1999 0 0", "succeeded 1999 700 0"
	return life{
		name: "stripe", captures: true, moved: capturedOnce("refund 700", "chargeback 1299"), open: []string{"payment_reversed"},
		tells: []telling{
			{
				sample: "stripe/payment_intent.amount_capturable_updated.json", then: "authorized 0 0 0",
				body: stripeEvent("1", "payment_intent.amount_capturable_updated", `{"id":"pi_$n","object":"payment_intent","amount":1999,"amount_capturable":1999,"currency":"eur","metadata":$metadata}`),
			},
			{
				sample: "stripe/payment_intent.succeeded.json", then: "succeeded 1999 0 0",
				body: stripeEvent("2", "payment_intent.succeeded", `{"id":"pi_$n","object":"payment_intent","amount":1999,"amount_received":1999,"currency":"eur","latest_charge":"ch_$n","metadata":$metadata}`),
			},
			created, updated,
			{
				sample: "stripe/charge.refunded.json", then: "succeeded 1999 700 0",
				body: stripeEvent("5", "charge.refunded", `{"id":"ch_$n","object":"charge","captured":true,"amount":1999,"amount_captured":1999,"amount_refunded":700,"currency":"eur","payment_intent":"pi_$n"}`),
			},
			{
				sample: "stripe/charge.dispute.created.json", then: "succeeded 1999 700 1299",
				body: stripeEvent("6", "charge.dispute.funds_withdrawn", `{"id":"dp_$n","object":"dispute","amount":1299,"currency":"eur","charge":"ch_$n","payment_intent":"pi_$n","status":"needs_response"}`),
			},
		},
	}
}

// stripeCheckoutLife begins on Stripe's page. The metadata is on the session and not on the payment intent.
func stripeCheckoutLife() life {
	return life{
		name: "stripe: a Checkout session", moved: []string{"capture 1999", "refund 1999"},
		tells: []telling{
			{
				sample: "stripe/checkout.session.completed.json", then: "succeeded 1999 0 0",
				body: stripeEvent("1", "checkout.session.completed", `{"id":"cs_$n","object":"checkout.session","payment_status":"paid","client_reference_id":"cart-$n","payment_intent":"pi_$n","amount_total":1999,"currency":"eur","metadata":$metadata}`),
			},
			{
				sample: "stripe/payment_intent.succeeded.json", then: "succeeded 1999 0 0",
				body: stripeEvent("2", "payment_intent.succeeded", `{"id":"pi_$n","object":"payment_intent","amount":1999,"amount_received":1999,"currency":"eur"}`),
			},
			{
				sample: "stripe/charge.refunded.json", then: "succeeded 1999 1999 0",
				body: stripeEvent("3", "charge.refunded", `{"id":"ch_$n","object":"charge","captured":true,"amount":1999,"amount_captured":1999,"amount_refunded":1999,"currency":"eur","payment_intent":"pi_$n"}`),
			},
		},
	}
}

func adyenLife() life {
	item := func(sample, code, psp, original string, amount int, then string) telling {
		return telling{
			sample: "adyen/" + sample + ".json", then: then,
			body: fmt.Sprintf(`{"live":"false","notificationItems":[{"NotificationRequestItem":{"eventCode":%q,"success":"true","pspReference":%q,`+
				`"originalReference":%q,"merchantAccountCode":"TestMerchant","merchantReference":"$text","amount":{"value":%d,"currency":"EUR"}}}]}`, code, psp, original, amount),
		}
	}
	return life{
		name: "adyen", captures: true, ack: "[accepted]", moved: capturedOnce("refund 700", "chargeback 1299"), open: []string{"payment_reversed"},
		tells: []telling{
			item("authorisationTrue", "AUTHORISATION", "PAY$n", "", 1999, "authorized 0 0 0"),
			item("captureTrue", "CAPTURE", "CAP$n", "PAY$n", 1999, "succeeded 1999 0 0"),
			item("refundTrue", "REFUND", "REF$n", "PAY$n", 700, "succeeded 1999 700 0"),
			item("constructed_chargeback", "CHARGEBACK", "DIS$n", "PAY$n", 1299, "succeeded 1999 700 1299"),
		},
	}
}

func checkoutLife() life {
	event := func(sample, id, name, data, then string) telling {
		return telling{sample: "checkout/" + sample + ".json", then: then, body: `{"id":"evt_` + id + `$n","type":"` + name + `","data":` + data + `}`}
	}
	action := func(id string, amount int) string {
		return fmt.Sprintf(`{"id":"pay_$n","action_id":"act_%s$n","reference":"$text","metadata":$metadata,"amount":%d,"currency":"EUR"}`, id, amount)
	}
	return life{
		name: "checkout", captures: true, moved: capturedOnce("refund 700", "chargeback 1299"), open: []string{"payment_reversed"},
		tells: []telling{
			event("constructed_payment_approved", "1", "payment_approved", action("1", 1999), "authorized 0 0 0"),
			event("payment_captured", "2", "payment_captured", action("2", 1999), "succeeded 1999 0 0"),
			event("constructed_payment_refunded", "3", "payment_refunded", action("3", 700), "succeeded 1999 700 0"),
			event("constructed_dispute_received", "4", "dispute_evidence_required",
				`{"id":"dsp_$n","payment_id":"pay_$n","reference":"$text","metadata":{},"amount":1299,"currency":"EUR"}`, "succeeded 1999 700 1299"),
		},
	}
}

func squareLife() life {
	event := func(sample, id, name, object, members, then string) telling {
		return telling{
			sample: sample, then: then,
			body: `{"type":"` + name + `","event_id":"event-` + id + `-$n","data":{"type":"` + object + `","id":"` + id + `-$n","object":{"` + object + `":` + members + `}}}`,
		}
	}
	payment := func(status string) string {
		const money = `{"amount":1999,"currency":"EUR"}`
		return `{"id":"payment-$n","status":"` + status + `","reference_id":"$text","order_id":"order-$n","amount_money":` + money + `,"total_money":` + money + `,"approved_money":` + money + `}`
	}
	refund := func(status string) string {
		return `{"id":"payment-$n_1","status":"` + status + `","payment_id":"payment-$n","order_id":"order-$n","amount_money":{"amount":700,"currency":"EUR"}}`
	}
	return life{
		name: "square", captures: true, moved: capturedOnce("refund 700", "chargeback 1299"), open: []string{"payment_reversed"},
		tells: []telling{
			event("square/payment.created.json", "1", "payment.created", "payment", payment("APPROVED"), "authorized 0 0 0"),
			event("square/payment.updated_completed.json", "2", "payment.updated", "payment", payment("COMPLETED"), "succeeded 1999 0 0"),
			event("square/constructed_refund.updated_pending.json", "3", "refund.created", "refund", refund("PENDING"), "succeeded 1999 0 0"),
			event("square/constructed_refund.updated_completed.json", "4", "refund.updated", "refund", refund("COMPLETED"), "succeeded 1999 700 0"),
			event("", "5", "dispute.created", "dispute",
				`{"id":"dispute-$n","state":"EVIDENCE_REQUIRED","amount_money":{"amount":1299,"currency":"EUR"},"disputed_payment":{"payment_id":"payment-$n"}}`, "succeeded 1999 700 1299"),
		},
	}
}

func razorpayLife() life {
	const payment = `"payment":{"entity":{"id":"pay_$n","order_id":"order_$n","amount":1999,"currency":"INR","notes":`
	event := func(sample, name string, at int, contains, payload, then string) telling {
		return telling{
			sample: "razorpay/" + sample + ".json", then: then,
			body: fmt.Sprintf(`{"event":%q,"contains":[%s],"created_at":%d,"payload":{%s}}`, name, contains, 1767225600+at, payload),
		}
	}
	refund := func(status string) string {
		return `"refund":{"entity":{"id":"rfnd_$n","payment_id":"pay_$n","amount":700,"currency":"INR","notes":[],"receipt":null,"status":"` + status + `"}},` + payment + `[],"captured":true}}`
	}
	return life{
		name: "razorpay", currency: "INR", captures: true, moved: capturedOnce("refund 700", "chargeback 1299"), open: []string{"payment_reversed"},
		tells: []telling{
			event("payment.authorized__netbanking", "payment.authorized", 1, `"payment"`, payment+`$metadata}}`, "authorized 0 0 0"),
			event("payment.captured__netbanking", "payment.captured", 2, `"payment"`, payment+`$metadata}}`, "succeeded 1999 0 0"),
			event("refund.created__normal_refunds", "refund.created", 3, `"refund","payment"`, refund("created"), "succeeded 1999 0 0"),
			event("refund.processed__normal_refunds", "refund.processed", 4, `"refund","payment"`, refund("processed"), "succeeded 1999 700 0"),
			event("payment.dispute.lost__payment_dispute_lost", "payment.dispute.lost", 5, `"payment","dispute"`,
				`"dispute":{"entity":{"id":"disp_$n","payment_id":"pay_$n","amount":1299,"amount_deducted":1299,"currency":"INR"}},`+payment+`[]}}`, "succeeded 1999 700 1299"),
		},
	}
}

// braintreeLife is of a local payment, the only kind with a notice of a hold. Notifications are XML, with the elements of the
// official library's samples.
func braintreeLife() life {
	notice := func(at int, kind, subject, then string) telling {
		return telling{then: then, body: fmt.Sprintf(`<notification><timestamp type="datetime">2026-01-01T00:00:0%dZ</timestamp><kind>%s</kind><subject>%s</subject></notification>`, at, kind, subject)}
	}
	transaction := func(id, kind, status, amount, rest string) string {
		return `<transaction><id>` + id + `</id><status>` + status + `</status><type>` + kind + `</type><currency-iso-code>EUR</currency-iso-code><amount>` + amount + `</amount>` + rest + `</transaction>`
	}
	const order = `<order-id>$text</order-id>`
	return life{
		name: "braintree", captures: true, moved: capturedOnce("refund 700", "chargeback 1299"), open: []string{"payment_reversed"},
		tells: []telling{
			notice(1, "local_payment_completed", `<local-payment><payment-id>local$n</payment-id>`+transaction("t$n", "sale", "authorized", "19.99", order)+`</local-payment>`, "authorized 0 0 0"),
			notice(2, "transaction_settled", transaction("t$n", "sale", "settled", "19.99", order), "succeeded 1999 0 0"),
			notice(3, "transaction_settled", transaction("r$n", "credit", "settled", "7.00", `<refunded-transaction-id>t$n</refunded-transaction-id>`), "succeeded 1999 700 0"),
			notice(4, "dispute_opened", `<dispute><amount>19.99</amount><amount-disputed>12.99</amount-disputed><currency-iso-code>EUR</currency-iso-code>`+
				`<kind>chargeback</kind><status>open</status><id>d$n</id><transaction><id>t$n</id><amount>19.99</amount></transaction></dispute>`, "succeeded 1999 700 1299"),
		},
	}
}

// standardLife is of the sandbox's events, which tell of no chargeback.
func standardLife(kind string) life {
	event := func(id, name, refund string, amount int, then string) telling {
		return telling{then: then, body: fmt.Sprintf(`{"id":"evt_%s$n","type":%q,"created":"2026-01-02T12:00:00Z","data":{"charge_id":"ch_$n","refund_id":%s,"reference":"$text",`+
			`"amount":%d,"currency":"EUR","failure_code":null}}`, id, name, refund, amount)}
	}
	return life{
		name: kind, captures: true, moved: capturedOnce("refund 700", "refund 1299"),
		tells: []telling{
			event("1", "charge.authorized", "null", 1999, "authorized 0 0 0"),
			event("2", "charge.succeeded", "null", 1999, "succeeded 1999 0 0"),
			event("3", "refund.succeeded", `"re_1$n"`, 700, "succeeded 1999 700 0"),
			event("4", "refund.succeeded", `"re_2$n"`, 1299, "succeeded 1999 1999 0"),
		},
	}
}
