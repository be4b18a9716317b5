package e2e_test

import "fmt"

// russianLives are the lives of providers that settle in roubles.
func russianLives() []life {
	return []life{yookassaLife(), cloudpaymentsLife(), tbankLife(), tbankPartLife(), robokassaLife()}
}

// yookassaLife has unsigned notices, so the object is read back.
func yookassaLife() life {
	payment := func(status string) string {
		return `{"id":"pay-$n","status":"` + status + `","paid":true,"amount":{"value":"19.99","currency":"RUB"},"metadata":$metadata,"test":true}`
	}
	refund := func(id, value string) string {
		return `{"id":"` + id + `-$n","payment_id":"pay-$n","status":"succeeded","amount":{"value":"` + value + `","currency":"RUB"}}`
	}
	notice := func(event, object, line, then string) telling {
		return telling{
			sample: "yookassa/" + event + ".json", then: then, answers: map[string]string{"GET /v3/" + line: object},
			body: `{"type":"notification","event":"` + event + `","object":` + object + `}`,
		}
	}
	return life{
		name: "yookassa", currency: "RUB", captures: true, moved: capturedOnce("refund 700", "refund 1299"),
		tells: []telling{
			notice("payment.waiting_for_capture", payment("waiting_for_capture"), "payments/pay-$n", "authorized 0 0 0"),
			notice("payment.succeeded", payment("succeeded"), "payments/pay-$n", "succeeded 1999 0 0"),
			notice("refund.succeeded", refund("re1", "7.00"), "refunds/re1-$n", "succeeded 1999 700 0"),
			notice("refund.succeeded", refund("re2", "12.99"), "refunds/re2-$n", "succeeded 1999 1999 0"),
		},
	}
}

func cloudpaymentsLife() life {
	payment := func(topic, status, then string) telling {
		return telling{
			sample: "cloudpayments/pay_authorized_two_stage.params.json", topic: topic, then: then,
			body: `{"form":{"TransactionId":"$n","Amount":"19.99","Currency":"RUB","InvoiceId":"$text","Status":"` + status + `","Data":$metadata}}`,
		}
	}
	refund := func(id, amount, then string) telling {
		return telling{
			sample: "cloudpayments/refund.params.json", topic: "refund", then: then,
			body: `{"form":{"TransactionId":"$n` + id + `","PaymentTransactionId":"$n","Amount":"` + amount + `","InvoiceId":"$text"}}`,
		}
	}
	return life{
		name: "cloudpayments", currency: "RUB", captures: true, ack: `{"code":0}`, moved: capturedOnce("refund 700", "refund 1299"),
		tells: []telling{
			payment("check", "Completed", "awaiting_customer 0 0 0"),
			payment("pay", "Authorized", "authorized 0 0 0"),
			payment("confirm", "Completed", "succeeded 1999 0 0"),
			refund("1", "7.00", "succeeded 1999 700 0"),
			refund("2", "12.99", "succeeded 1999 1999 0"),
		},
	}
}

// tbankNotice is a notification of T-Bank's; the bank's response to a lookup, if there is one, is the same.
func tbankNotice(sample, status, then string, asked bool) telling {
	d := telling{
		sample: "tbank/" + sample + ".json", then: then,
		body: fmt.Sprintf(`{"TerminalKey":"1321054611234DEMO","OrderId":"$text","Success":true,"Status":%q,"PaymentId":$n,"ErrorCode":"0","Amount":1999}`, status),
	}
	if asked {
		d.answers = map[string]string{"POST /v2/GetState $n": fmt.Sprintf(`{"Success":true,"ErrorCode":"0","TerminalKey":"1321054611234DEMO","Status":%q,"PaymentId":"$n","OrderId":"$text","Amount":1999}`, status)}
	}
	return d
}

func tbankLife() life {
	return life{
		name: "tbank", currency: "RUB", captures: true, ack: "OK", moved: capturedOnce("refund 1999"), ordered: true,
		tells: []telling{
			tbankNotice("authorized_docs_signed", "AUTHORIZED", "authorized 0 0 0", false),
			tbankNotice("constructed_confirmed", "CONFIRMED", "succeeded 1999 0 0", false),
			tbankNotice("constructed_refunded", "REFUNDED", "succeeded 1999 1999 0", true),
		},
	}
}

// tbankPartLife ends with a refund whose amount is neither in the notice nor in the bank's response. The same notice again may
// be the notice of another part, so each opens a discrepancy.
func tbankPartLife() life {
	return life{
		name: "tbank: a part is refunded", currency: "RUB", ack: "OK", moved: []string{"capture 1999"}, open: []string{"needs_review", "needs_review"},
		tells: []telling{
			tbankNotice("constructed_confirmed", "CONFIRMED", "succeeded 1999 0 0", false),
			tbankNotice("constructed_partial_refunded", "PARTIAL_REFUNDED", "succeeded 1999 0 0", true),
		},
		ordered: true,
	}
}

// robokassaLife ends with the capture: Robokassa notifies of success only.
func robokassaLife() life {
	return life{
		name: "robokassa", currency: "RUB", ack: "OK$n", moved: []string{"capture 1999"}, ordered: true,
		tells: []telling{{
			sample: "robokassa/result_form.txt", then: "succeeded 1999 0 0",
			body: `{"form":{"OutSum":"19.990000","InvId":"$n","*":$metadata}}`,
		}},
	}
}
