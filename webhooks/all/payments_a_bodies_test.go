package all_test

import (
	"fmt"

	"github.com/paylatch/paylatch/webhooks"
)

func paidTwice() map[string]twice {
	return map[string]twice{
		"stripe":    stripeTwice(),
		"adyen":     adyenTwice(),
		"paypal":    paypalTwice(),
		"razorpay":  razorpayTwice(),
		"checkout":  checkoutTwice(),
		"braintree": braintreeTwice(),
		"square":    squareTwice(),
	}
}

// stripeTwice are two payment intents: a page that was reloaded makes a second one, and so does a second session.
func stripeTwice() twice {
	event := func(kind, object, members string) string {
		return fmt.Sprintf(`{"id":"evt_1","type":%q,"livemode":true,"account":"acct_1","api_version":"2025-03-31.basil","created":1773500960,`+
			`"data":{"object":{"object":%q,"currency":"eur","amount":1999,"amount_total":1999,"metadata":{"payment_attempt_id":%q},%s}}}`, kind, object, tried, members)
	}
	return twice{
		first: "pi_a", second: "pi_b", container: "cs_a", payee: "acct_1", mode: webhooks.ModeLive,
		ofFirst: []string{
			event("payment_intent.amount_capturable_updated", "payment_intent", `"id":"pi_a","amount_capturable":1999`),
			event("payment_intent.succeeded", "payment_intent", `"id":"pi_a","latest_charge":"ch_a"`),
			event("charge.succeeded", "charge", `"id":"ch_a","payment_intent":"pi_a","captured":true`),
			event("checkout.session.completed", "checkout.session", `"id":"cs_a","payment_intent":"pi_a","payment_status":"paid"`),
			event("charge.refunded", "charge", `"id":"ch_a","payment_intent":"pi_a","captured":true,"amount_refunded":500`),
			event("refund.updated", "refund", `"id":"re_a","payment_intent":"pi_a","charge":"ch_a","status":"succeeded"`),
			event("charge.dispute.created", "dispute", `"id":"dp_a","payment_intent":"pi_a","charge":"ch_a","status":"needs_response"`),
		},
		ofSecond: []string{
			event("payment_intent.succeeded", "payment_intent", `"id":"pi_b"`),
			event("checkout.session.async_payment_failed", "checkout.session", `"id":"cs_b","payment_intent":"pi_b"`),
			event("payment_intent.canceled", "payment_intent", `"id":"pi_b"`),
		},
		ends: []string{
			event("checkout.session.expired", "checkout.session", `"id":"cs_b","payment_intent":"pi_b"`),
			event("checkout.session.expired", "checkout.session", `"id":"cs_b","payment_intent":null`),
			event("checkout.session.completed", "checkout.session", `"id":"cs_b","payment_intent":null,"payment_status":"unpaid"`),
		},
	}
}

// adyenTwice are two authorisations: a card that was refused in a drop-in, and the one that was taken then.
func adyenTwice() twice {
	item := func(code, success, psp, original string) string {
		return fmt.Sprintf(`{"live":"true","notificationItems":[{"NotificationRequestItem":{"pspReference":%q,"originalReference":%q,"eventCode":%q,"success":%q,`+
			`"merchantAccountCode":"Shop","merchantReference":%q,"amount":{"value":1999,"currency":"EUR"},"eventDate":"2026-03-14T16:09:20+01:00",`+
			`"additionalData":{"checkoutSessionId":"CS1"}}}]}`, psp, original, code, success, tried)
	}
	return twice{
		first: "PSPA", second: "PSPB", payee: "Shop", mode: webhooks.ModeLive,
		ofFirst: []string{
			item("AUTHORISATION", "true", "PSPA", ""),
			item("CAPTURE", "true", "MOD1", "PSPA"),
			item("CAPTURE_FAILED", "true", "MOD1", "PSPA"),
			item("CANCELLATION", "true", "MOD2", "PSPA"),
			item("REFUND", "true", "REF1", "PSPA"),
			item("CHARGEBACK", "true", "DIS1", "PSPA"),
		},
		ofSecond: []string{
			item("AUTHORISATION", "true", "PSPB", ""),
			item("CAPTURE", "true", "MOD3", "PSPB"),
			item("EXPIRE", "true", "PSPB", ""),
			item("AUTHORISATION", "false", "PSPB", ""),
		},
		ends: []string{item("OFFER_CLOSED", "true", "OFFER1", "")},
	}
}

// paypalTwice are an order that was authorized and then captured, and another that the buyer's browser has made and captured.
func paypalTwice() twice {
	event := func(kind, members string) string {
		return fmt.Sprintf(`{"id":"WH-1","event_type":%q,"create_time":"2026-03-14T15:09:20Z","resource":{"amount":{"currency_code":"EUR","value":"19.99"},%s}}`, kind, members)
	}
	const paid = `"payee":{"merchant_id":"M1","email_address":"shop@shop.example"}`
	related := func(order, up string) string {
		return fmt.Sprintf(`,"custom_id":%q,%s,"supplementary_data":{"related_ids":{"order_id":%q}},"links":[{"rel":"up","href":"https://api.paypal.com/v2/payments/%s"}]`, tried, paid, order, up)
	}
	unit := func(order, payments string) string {
		return fmt.Sprintf(`"id":%q,"purchase_units":[{"custom_id":%q,%s,"payments":{%s}}]`, order, tried, paid, payments)
	}
	return twice{
		first: "AUTHA", second: "CAPB", container: "ORDA", payee: "M1", claimed: true,
		ofFirst: []string{
			event("PAYMENT.AUTHORIZATION.CREATED", `"id":"AUTHA","status":"CREATED"`+related("ORDA", "orders/ORDA")),
			event("PAYMENT.CAPTURE.COMPLETED", `"id":"CAPA","status":"COMPLETED"`+related("ORDA", "authorizations/AUTHA")),
			event("PAYMENT.CAPTURE.DECLINED", `"id":"CAPA","status":"DECLINED"`+related("ORDA", "authorizations/AUTHA")),
			event("CHECKOUT.ORDER.COMPLETED", unit("ORDA", `"authorizations":[{"id":"AUTHA","status":"CREATED"}]`)),
			event("PAYMENT.AUTHORIZATION.VOIDED", `"id":"AUTHA","status":"VOIDED"`+related("ORDA", "orders/ORDA")),
		},
		ofSecond: []string{
			event("PAYMENT.CAPTURE.COMPLETED", `"id":"CAPB","status":"COMPLETED"`+related("ORDB", "orders/ORDB")),
			event("CHECKOUT.ORDER.COMPLETED", unit("ORDB", `"captures":[{"id":"CAPB","status":"COMPLETED","amount":{"currency_code":"EUR","value":"19.99"}}]`)),
			event("PAYMENT.CAPTURE.REFUNDED", `"id":"REFB","status":"COMPLETED"`+related("", "captures/CAPB")),
			event("PAYMENT.CAPTURE.DENIED", `"id":"CAPB","status":"DECLINED"`+related("ORDB", "orders/ORDB")),
		},
		ends: []string{
			event("CHECKOUT.ORDER.APPROVED", unit("ORDB", "")),
			event("CHECKOUT.ORDER.VOIDED", unit("ORDB", "")),
			event("CHECKOUT.PAYMENT-APPROVAL.REVERSED", `"order_id":"ORDB","purchase_units":[{`+paid+`}]`),
		},
	}
}

// razorpayTwice are two payments of one order: a try that failed, and the one that paid, which belongs to a link.
func razorpayTwice() twice {
	event := func(name, entities string) string {
		return fmt.Sprintf(`{"entity":"event","account_id":"acc_1","event":%q,"created_at":1773500960,"contains":["payment"],"payload":{%s}}`, name, entities)
	}
	entity := func(name, members string) string {
		return fmt.Sprintf(`%q:{"entity":{"entity":%q,"amount":1999,"currency":"INR",%s}}`, name, name, members)
	}
	pay := func(id, status string) string {
		return entity("payment", fmt.Sprintf(`"id":%q,"status":%q,"order_id":"order_1","captured":true,"notes":{"payment_attempt_id":%q}`, id, status, tried))
	}
	return twice{
		first: "pay_A", second: "pay_B", container: "order_1", payee: "acc_1", claimed: true,
		ofFirst: []string{
			event("payment.authorized", pay("pay_A", "authorized")),
			event("payment.captured", pay("pay_A", "captured")),
			event("order.paid", pay("pay_A", "captured")+","+entity("order", `"id":"order_1","amount_paid":1999,"receipt":"A-17"`)),
			event("refund.processed", entity("refund", `"id":"rfnd_1","payment_id":"pay_A"`)),
			event("payment.dispute.created", entity("dispute", `"id":"disp_1","payment_id":"pay_A"`)),
		},
		ofSecond: []string{
			event("payment.failed", pay("pay_B", "failed")),
			event("payment_link.paid", pay("pay_B", "captured")+","+entity("payment_link", `"id":"plink_1","amount_paid":1999,"reference_id":"A-17"`)),
		},
		ends: []string{
			event("payment_link.expired", entity("payment_link", `"id":"plink_1"`)),
			event("payment_link.cancelled", entity("payment_link", `"id":"plink_1"`)+","+pay("pay_B", "failed")),
		},
	}
}

// checkoutTwice are two payments of one payment session: a card that was declined, and the one that paid.
func checkoutTwice() twice {
	event := func(name, members string) string {
		return fmt.Sprintf(`{"id":"evt_1","type":%q,"timestamp":"2026-03-14T15:09:20Z","data":{"amount":1999,"currency":"EUR","reference":%q,"processing_channel_id":"pc_1",`+
			`"metadata":{"cko_payment_session_id":"ps_1"},"event_links":{"payment":"https://api.checkout.com/payments/pay_1"},%s}}`, name, tried, members)
	}
	return twice{
		first: "pay_a", second: "pay_b", container: "ps_1", payee: "pc_1", mode: webhooks.ModeLive,
		ofFirst: []string{
			event("payment_approved", `"id":"pay_a","action_id":"act_1"`),
			event("payment_captured", `"id":"pay_a","action_id":"act_2"`),
			event("payment_refunded", `"id":"pay_a","action_id":"act_3"`),
			event("dispute_evidence_required", `"id":"dsp_1","payment_id":"pay_a"`),
		},
		ofSecond: []string{
			event("payment_captured", `"id":"pay_b","action_id":"act_4"`),
			event("payment_declined", `"id":"pay_b","action_id":"act_5"`),
			event("payment_expired", `"id":"pay_b","action_id":"act_6"`),
		},
	}
}

// braintreeTwice are two transactions of one order, each made of a local payment.
func braintreeTwice() twice {
	notice := func(kind, subject string) string {
		return "<notification><timestamp type=\"datetime\">2026-03-14T15:09:20Z</timestamp><kind>" + kind + "</kind><subject>" + subject + "</subject></notification>"
	}
	sale := func(id, status string) string {
		return "<transaction><id>" + id + "</id><type>sale</type><status>" + status + "</status><amount>19.99</amount><currency-iso-code>EUR</currency-iso-code>" +
			"<order-id>" + tried + "</order-id><merchant-account-id>shop_eur</merchant-account-id></transaction>"
	}
	local := func(element, id, transaction string) string {
		return "<" + element + "><payment-id>" + id + "</payment-id>" + transaction + "</" + element + ">"
	}
	return twice{
		first: "txna", second: "txnb", container: "PAY-A", payee: "shop_eur",
		ofFirst: []string{
			notice("transaction_settled", sale("txna", "settled")),
			notice("local_payment_completed", local("local-payment", "PAY-A", sale("txna", "settling"))),
			notice("local_payment_funded", local("local-payment-funded", "PAY-A", sale("txna", "authorized"))),
			notice("refund_failed", "<transaction><id>refa</id><type>credit</type><amount>5.00</amount><currency-iso-code>EUR</currency-iso-code>"+
				"<refunded-transaction-id>txna</refunded-transaction-id><merchant-account-id>shop_eur</merchant-account-id></transaction>"),
			notice("dispute_opened", "<dispute><id>dsp1</id><amount>19.99</amount><currency-iso-code>EUR</currency-iso-code><kind>chargeback</kind>"+sale("txna", "settled")+"</dispute>"),
		},
		ofSecond: []string{
			notice("transaction_settled", sale("txnb", "settled")),
			notice("transaction_settlement_declined", sale("txnb", "settlement_declined")),
			notice("local_payment_completed", local("local-payment", "PAY-B", sale("txnb", "voided"))),
		},
		ends: []string{
			notice("local_payment_expired", local("local-payment-expired", "PAY-B", sale("txnb", "voided"))),
			notice("local_payment_reversed", local("local-payment-reversed", "PAY-B", sale("txnb", "voided"))),
		},
	}
}

// squareTwice are two payments of the order of one payment link.
func squareTwice() twice {
	event := func(name, kind, members string) string {
		return fmt.Sprintf(`{"event_id":"e1","merchant_id":"MER1","type":%q,"created_at":"2026-03-14T15:09:20Z","data":{"object":{%q:{`+
			`"amount_money":{"amount":1999,"currency":"EUR"},"reference_id":%q,"order_id":"ORD1",%s}}}}`, name, kind, tried, members)
	}
	return twice{
		first: "PAYA", second: "PAYB", container: "ORD1", payee: "MER1",
		ofFirst: []string{
			event("payment.created", "payment", `"id":"PAYA","status":"APPROVED"`),
			event("payment.updated", "payment", `"id":"PAYA","status":"COMPLETED"`),
			event("refund.updated", "refund", `"id":"REFA","payment_id":"PAYA","status":"COMPLETED"`),
			event("dispute.created", "dispute", `"id":"DISA","state":"EVIDENCE_REQUIRED","disputed_payment":{"payment_id":"PAYA"}`),
		},
		ofSecond: []string{
			event("payment.created", "payment", `"id":"PAYB","status":"PENDING"`),
			event("payment.updated", "payment", `"id":"PAYB","status":"CANCELED"`),
			event("payment.updated", "payment", `"id":"PAYB","status":"FAILED"`),
		},
	}
}
