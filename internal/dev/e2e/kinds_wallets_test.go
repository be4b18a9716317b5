package e2e_test

import (
	"fmt"
	"strings"
)

// walletLives are the lives of providers whose webhooks only cause a lookup.
func walletLives() []life {
	return []life{mollieLife(), paypalLife(), gocardlessLife(), gocardlessChargebackLife(), gocardlessFailedLife(), gopayLife(), comgateLife()}
}

// mollieLife has classic notices, which are not signed, and a signed event for its refund.
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
	held, taken := part("AUTH$n", "CREATED", "19.99"), strings.TrimSuffix(part("CAP$n", "COMPLETED", "19.99"), "}")+
		`,"links":[{"rel":"up","href":"https://api.paypal.com/v2/payments/authorizations/AUTH$n","method":"GET"}]}`
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

// gocardlessEvent is a batch of one event; the API's answer to its lookup comes with it.
func gocardlessEvent(id, resource, action, links, line, answer, then string) telling {
	return telling{
		then: then, answers: map[string]string{"GET /" + line: answer},
		body: `{"events":[{"id":"EV` + id + `$n","created_at":"2026-01-02T10:00:00.000Z","resource_type":"` + resource + `","action":"` + action + `","links":` + links +
			`,"details":{"origin":"gocardless","cause":"` + action + `"},"metadata":{},"resource_metadata":$metadata}],"meta":{"webhook_id":"WB` + id + `$n"}}`,
	}
}

func gocardlessPayment(id, action, status, then string) telling {
	return gocardlessEvent(id, "payments", action, `{"payment":"PM$n"}`, "payments/PM$n",
		`{"payments":{"id":"PM$n","status":"`+status+`","amount":1999,"amount_refunded":0,"currency":"EUR","metadata":$metadata,"retry_if_possible":false}}`, then)
}

// gocardlessLife is refunded: the event of a refund names no payment.
func gocardlessLife() life {
	paid := gocardlessEvent("3", "refunds", "paid", `{"refund":"RF$n"}`, "refunds/RF$n",
		`{"refunds":{"id":"RF$n","status":"paid","amount":700,"currency":"EUR","metadata":{},"links":{"mandate":"MD1","payment":"PM$n"}}}`, "succeeded 1999 700 0")
	paid.body = strings.Replace(paid.body, `"resource_metadata":$metadata`, `"resource_metadata":{}`, 1)
	return life{
		name: "gocardless", moved: []string{"capture 1999", "refund 700"},
		tells: []telling{
			gocardlessPayment("1", "created", "pending_submission", "awaiting_customer 0 0 0"),
			gocardlessPayment("2", "confirmed", "confirmed", "succeeded 1999 0 0"),
			paid,
		},
	}
}

// gocardlessChargebackLife loses all of its money, and gets it back. The lookup's total has a name once the event comes.
func gocardlessChargebackLife() life {
	return life{
		name: "gocardless: charged back", moved: []string{"capture 1999", "chargeback 0", "chargeback 1999", "chargeback_reversal 1999"}, open: []string{"payment_reversed"}, ordered: true,
		tells: []telling{
			gocardlessPayment("1", "confirmed", "confirmed", "succeeded 1999 0 0"),
			gocardlessPayment("2", "charged_back", "charged_back", "succeeded 1999 0 1999"),
			gocardlessPayment("3", "chargeback_cancelled", "paid_out", "succeeded 1999 0 0"),
		},
	}
}

// gocardlessFailedLife fails for good. Its event reports this, and its status does not. The attempt was begun elsewhere, so it
// waits for another payment until it expires.
func gocardlessFailedLife() life {
	failed := gocardlessPayment("2", "failed", "failed", "awaiting_customer 0 0 0")
	failed.answers["GET /payments/PM$n"] = strings.Replace(failed.answers["GET /payments/PM$n"], `"retry_if_possible":false`, `"retry_if_possible":true`, 1)
	return life{
		name: "gocardless: fails", ordered: true,
		tells: []telling{gocardlessPayment("1", "submitted", "submitted", "awaiting_customer 0 0 0"), failed},
	}
}

// gopayLife has notices with only an id, at the address that the shop gave GoPay.
func gopayLife() life {
	notice := func(state, refunds, then string) telling {
		d := telling{
			query: "id=$n&$query", then: then,
			answers: map[string]string{"GET /api/payments/payment/$n": `{"id":$n,"order_number":"001","state":"` + state + `","amount":1999,"currency":"CZK",` +
				`"target":{"type":"ACCOUNT","goid":8123456789},"additional_params":[{"name":"payment_attempt_id","value":"$mark"}],"lang":"cs"}`},
		}
		if refunds != "" {
			d.answers["GET /api/payments/payment/$n/refunds"] = "[" + refunds + "]"
		}
		return d
	}
	refund := func(id string, amount int) string {
		return fmt.Sprintf(`{"id":%s$n,"state":"SUCCESS","amount":%d,"currency":"CZK","date_requested":"2026-01-02T10:00:00Z"}`, id, amount)
	}
	return life{
		name: "gopay", currency: "CZK", captures: true, moved: capturedOnce("refund 700", "refund 1299"), ordered: true,
		tells: []telling{
			notice("AUTHORIZED", "", "authorized 0 0 0"),
			notice("PAID", "", "succeeded 1999 0 0"),
			notice("PARTIALLY_REFUNDED", refund("1", 700), "succeeded 1999 700 0"),
			notice("REFUNDED", refund("1", 700)+","+refund("2", 1299), "succeeded 1999 1999 0"),
		},
	}
}

// comgateLife ends with the capture: Comgate neither notifies of refunds nor shows them with the payment.
func comgateLife() life {
	notice := func(status, then string) telling {
		return telling{
			sample: "comgate/constructed_push_form.txt", then: then,
			body:    `{"form":{"merchant":"123456","price":"1999","curr":"CZK","refId":"$text","transId":"AB12-$n","status":"` + status + `"}}`,
			answers: map[string]string{"POST /v1.0/status AB12-$n": "code=0&message=OK&merchant=123456&test=true&price=1999&curr=CZK&label=Order&refId=$text&transId=AB12-$n&secret=shop-secret&status=" + status},
		}
	}
	return life{
		name: "comgate", currency: "CZK", captures: true, ack: "code=0&message=OK", moved: capturedOnce(), ordered: true,
		tells: []telling{
			notice("AUTHORIZED", "authorized 0 0 0"),
			notice("PAID", "succeeded 1999 0 0"),
		},
	}
}
