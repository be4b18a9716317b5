package webhooks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"
)

// parseCloudPayments reads a notification by the topic of its address
// (https://developers.cloudpayments.ru/#tipy-uvedomleniy). Its id is made of the
// topic and TransactionId; of a subscription, which has none, of its id, status
// and counters.
func parseCloudPayments(topic string, raw []byte, currency string) (Event, error) {
	fields, err := cloudPaymentsFields(raw)
	if err != nil {
		return Event{}, err
	}
	e := Event{
		IDSource: Derived, Type: topic, Kind: cloudPaymentsKind(topic, fields["OperationType"], fields["Status"]),
		ID:         derivedID(topic, fields["TransactionId"]),
		OccurredAt: cloudPaymentsTime(fields["DateTime"]),
	}
	if fields["TransactionId"] == "" {
		e.ID = derivedID(topic, fields["Id"], fields["Status"],
			fields["SuccessfulTransactionsNumber"], fields["FailedTransactionsNumber"])
	}
	if test, known := fields["TestMode"]; known {
		e.TestKnown, e.Test = true, test == "1" || test == "true" || test == "True"
	}
	if e.Kind == KindIgnored {
		return e, nil
	}
	if fields["TransactionId"] == "" {
		return Event{}, fmt.Errorf("%w: %s without TransactionId", ErrPayload, topic)
	}
	return fillCloudPayments(e, fields, currency)
}

// cloudPaymentsFields reads a form, a query string or a JSON object.
func cloudPaymentsFields(raw []byte) (map[string]string, error) {
	if !isObject(raw) {
		fields, err := formFields(string(raw))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPayload, err)
		}
		return fields, nil
	}
	var object map[string]json.RawMessage
	if err := decode("notification", raw, &object); err != nil {
		return nil, err
	}
	fields := scalars(object)
	if data := object["Data"]; members(data) != nil {
		fields["Data"] = string(data) // a form has it as text
	}
	return fields, nil
}

// cloudPaymentsKind reads a topic. One that is not known here is not guessed at by
// the fields: those of a question look like those of a payment. What a topic says of
// a payout or a refund (https://developers.cloudpayments.ru/#tipy-operatsiy) is not
// about a payment, but for the topic of refunds. A question about one is not for us to
// answer with "no"; one about an operation that is not known here is.
func cloudPaymentsKind(topic, operation, status string) Kind {
	switch {
	case topic == "check" && operation != "Refund" && operation != "CardPayout":
		return KindQuestion
	case topic == "refund":
		return KindRefundSucceeded
	case operation != "" && operation != "Payment":
		return KindIgnored
	}
	switch topic {
	case "pay":
		return cloudPaymentsPaid(status)
	case "confirm":
		return KindSucceeded
	case "fail":
		return KindSoftFailed
	case "cancel":
		return KindFailed
	default:
		return KindIgnored
	}
}

// cloudPaymentsPaid tells a hold from money that was taken.
func cloudPaymentsPaid(status string) Kind {
	switch status {
	case "Completed":
		return KindSucceeded
	case "Authorized":
		return KindAuthorized
	case "AwaitingAuthentication":
		return KindActionRequired
	default:
		return KindIgnored
	}
}

// cloudPaymentsTime reads a time without a zone, which is UTC as far as is known.
func cloudPaymentsTime(text string) time.Time {
	if t := textTime(time.DateTime, text); !t.IsZero() {
		return t
	}
	return jsonTime([]byte(`"` + text + `"`))
}

// fillCloudPayments adds to an event what its fields say. The merchant's own id is
// payment_attempt_id in Data, or else InvoiceId. A refund has an amount and no
// currency.
func fillCloudPayments(e Event, fields map[string]string, currency string) (Event, error) {
	data := members([]byte(fields["Data"]))
	e.ProviderPaymentID = fields["TransactionId"]
	if e.Kind == KindRefundSucceeded {
		e.ProviderPaymentID, e.RefundID = fields["PaymentTransactionId"], fields["TransactionId"]
		e.RefundReference = jsonText(data["refund_id"])
	} else {
		e.Transaction = fields["TransactionId"]
	}
	e.References = references(cmp.Or(jsonText(data["payment_attempt_id"]), fields["InvoiceId"]), e.ProviderPaymentID)
	if e.Kind == KindSoftFailed {
		e.FailureCode, e.ProviderCode = CloudPaymentsFailureCode(fields["ReasonCode"])
	}
	if e.Kind == KindFailed {
		e.FailureCode = codeCanceled
	}
	if fields["Currency"] == "" {
		e.Amount = fields["Amount"]
	}
	if e.Amount != "" && !isDecimal(e.Amount) {
		return Event{}, fmt.Errorf("%w: amount of %s", ErrPayload, e.Type)
	}
	return e.withMoney(decimalMoneyIn(fields["Amount"], cmp.Or(fields["Currency"], currency)))
}

// cloudPaymentsReasons translates ReasonCode
// (https://developers.cloudpayments.ru/#kody-oshibok); all but 5051 are from
// memory.
var cloudPaymentsReasons = map[string]string{
	"5001": codeCardDeclined,
	"5005": codeCardDeclined,
	"5014": codeCardDeclined,
	"5054": codeCardDeclined,
	"5057": codeCardDeclined,
	"5062": codeCardDeclined,
	"5082": codeCardDeclined,
	"5051": codeInsufficientFunds,
	"5061": codeInsufficientFunds,
	"5034": codeFraudSuspected,
	"5041": codeFraudSuspected,
	"5043": codeFraudSuspected,
	"5059": codeFraudSuspected,
	"5300": codeFraudSuspected,
	"5206": codeAuthenticationFailed,
	"5207": codeAuthenticationFailed,
}

// CloudPaymentsFailureCode returns paylatch's code and the one of CloudPayments to
// keep for the ReasonCode of a payment that was declined.
func CloudPaymentsFailureCode(reasonCode string) (ours, cloudPayments string) {
	return cmp.Or(cloudPaymentsReasons[reasonCode], codeProviderRejected), reasonCode
}
