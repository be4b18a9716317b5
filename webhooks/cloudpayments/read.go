package cloudpayments

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/plain"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// parse reads a notification by the topic of its address (https://developers.cloudpayments.ru/#tipy-uvedomleniy). Its
// id is made of the topic and TransactionId, and of the status of a refund that is not completed; of a subscription, which has none,
// of its id, status and counters.
func parse(topic string, raw []byte, currency string) (webhooks.Event, error) {
	fields, err := readFields(raw)
	if err != nil {
		return webhooks.Event{Type: topic}, err
	}
	e := webhooks.Event{
		IDSource: webhooks.Derived, Type: topic, Kind: kindOf(topic, fields["OperationType"], fields["Status"], fields["PaymentMethod"]),
		ID:         read.DerivedID(topic, fields["TransactionId"]),
		OccurredAt: timeOf(fields["DateTime"]),
	}
	if topic == topicRefund && e.Kind != webhooks.KindRefundSucceeded {
		e.ID = read.DerivedID(topic, fields["TransactionId"], cmp.Or(fields["Status"], "Pending"))
	}
	if fields["TransactionId"] == "" {
		e.ID = read.DerivedID(topic, fields["Id"], fields["Status"],
			fields["SuccessfulTransactionsNumber"], fields["FailedTransactionsNumber"])
	}
	if test, known := fields["TestMode"]; known {
		e.Mode = read.ModeOf(test == "1" || test == "true" || test == "True")
	}
	if e.Kind == webhooks.KindIgnored {
		return e, nil
	}
	if fields["TransactionId"] == "" {
		return e, fmt.Errorf("%w: %s without TransactionId", webhooks.ErrPayload, topic)
	}
	return fill(e, fields, currency)
}

// readFields reads a form, a query string or a JSON object.
func readFields(raw []byte) (map[string]string, error) {
	if !read.IsObject(raw) {
		fields, err := read.Form(string(raw), read.Every)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", webhooks.ErrPayload, err)
		}
		return fields, nil
	}
	var object map[string]json.RawMessage
	if err := read.JSON("notification", raw, &object); err != nil {
		return nil, err
	}
	fields := read.Scalars(object)
	if data := object["Data"]; read.Members(data) != nil {
		fields["Data"] = string(data) // a form has it as text
	}
	return fields, nil
}

// topicCheck is the topic of questions, topicFail that of transactions that were declined, topicRefund that of refunds.
const topicCheck, topicFail, topicRefund = "check", "fail", "refund"

// statusCompleted is the status of a transaction that has taken or returned its money.
const statusCompleted = "Completed"

// kindOf reads a topic. An unfamiliar one is not guessed at by the fields: those of a question look like those of a
// payment. A topic for a payout or a refund (https://developers.cloudpayments.ru/#tipy-operatsiy) is not about a payment,
// except the topic of refunds. A question about a payout or a refund is not for us to refuse. A question about an unfamiliar
// operation is refused.
func kindOf(topic, operation, status, method string) webhooks.Kind {
	switch {
	case topic == topicCheck && operation != "Refund" && operation != "CardPayout":
		return webhooks.KindQuestion
	case topic == topicRefund:
		return refundKind(status, method)
	case operation != "" && operation != "Payment":
		return webhooks.KindIgnored
	}
	switch topic {
	case "pay":
		return paidKind(status)
	case "confirm":
		return webhooks.KindSucceeded
	case topicFail, "cancel":
		return webhooks.KindFailed
	default:
		return webhooks.KindIgnored
	}
}

// paidKind distinguishes a hold from money that was captured.
func paidKind(status string) webhooks.Kind {
	switch status {
	case statusCompleted:
		return webhooks.KindSucceeded
	case "Authorized":
		return webhooks.KindAuthorized
	case "AwaitingAuthentication":
		return webhooks.KindActionRequired
	default:
		return webhooks.KindIgnored
	}
}

// refundKind reads a refund. A refund by the SBP ends later, and the documented notification has no status: such a refund is under way
// until a lookup has its end (https://developers.cloudpayments.ru/#sbp, "Возврат").
func refundKind(status, method string) webhooks.Kind {
	switch {
	case status == "Declined":
		return webhooks.KindRefundFailed
	case status == statusCompleted, status == "" && !strings.EqualFold(method, "Sbp"):
		return webhooks.KindRefundSucceeded
	default:
		return webhooks.KindRefundPending
	}
}

// timeOf reads a time without a zone, which is taken for UTC (from memory).
func timeOf(text string) time.Time {
	if t := read.TimeIn(time.DateTime, text); !t.IsZero() {
		return t
	}
	return read.Time([]byte(`"` + text + `"`))
}

// fill adds the fields to an event. A transaction is a payment: each try on a page has its own transaction. The
// merchant's own id is payment_attempt_id in Data, or else InvoiceId; the widget takes both from the browser, with the
// public id alone (https://developers.cloudpayments.ru/#platezhnyy-vidzhet). They may be the ids of two attempts. A refund has an
// amount and no currency.
func fill(e webhooks.Event, fields map[string]string, currency string) (webhooks.Event, error) {
	data := read.Members([]byte(fields["Data"]))
	e.ProviderPaymentID = fields["TransactionId"]
	if e.Kind.IsRefund() {
		e.ProviderPaymentID, e.RefundID = fields["PaymentTransactionId"], fields["TransactionId"]
		e.RefundReference = read.Text(data["refund_id"])
	}
	mark, invoice := read.Text(data["payment_attempt_id"]), fields["InvoiceId"]
	if mark != "" && !ofAttempt(invoice) {
		invoice = "" // of the shop's order, which may have several payments
	}
	mark = cmp.Or(mark, invoice)
	e.References, e.BrowserMark = read.References(mark, e.ProviderPaymentID, invoice), mark != ""
	if e.Kind == webhooks.KindFailed {
		e.FailureCode = webhooks.CodeCanceled
	}
	if e.Type == topicFail {
		// On a page, the payer may try again, in another transaction (https://developers.cloudpayments.ru/#fail). So may a payer by
		// the SBP: one QR code can be paid any number of times (https://developers.cloudpayments.ru/#sbp). The link to another app
		// belongs to its one transaction.
		app := read.Text(data["app"])
		e.PageOpen = app == "" || app == "sbp"
		if app == "sbp" {
			e.Kind = webhooks.KindSoftFailed
		}
		e.FailureCode, e.ProviderCode = FailureCode(fields["ReasonCode"])
	}
	if fields["Currency"] == "" {
		e.Amount = fields["Amount"]
	}
	if e.Amount != "" && !plain.Decimal(e.Amount) {
		e.Amount = ""
		return read.WithMoney(e, nil, fmt.Errorf("%w: not an amount", webhooks.ErrPayload))
	}
	code := cmp.Or(fields["Currency"], currency)
	if code == "" || fields["Amount"] == "" && fields["Currency"] == "" {
		return e, nil
	}
	return read.WithDecimal(e, fields["Amount"], code)
}

// ofAttempt reports whether a text has the form of an attempt's id, which is a UUID of version 7.
func ofAttempt(id string) bool {
	const length, version = 36, 14
	return len(id) == length && id[version] == '7' && strings.Count(id, "-") == 4
}

// reasons translates ReasonCode (https://developers.cloudpayments.ru/#kody-oshibok); all but 5051 are from memory.
var reasons = map[string]webhooks.FailureCode{
	"5001": webhooks.CodeCardDeclined,
	"5005": webhooks.CodeCardDeclined,
	"5014": webhooks.CodeCardDeclined,
	"5054": webhooks.CodeCardDeclined,
	"5057": webhooks.CodeCardDeclined,
	"5062": webhooks.CodeCardDeclined,
	"5082": webhooks.CodeCardDeclined,
	"5051": webhooks.CodeInsufficientFunds,
	"5061": webhooks.CodeInsufficientFunds,
	"5034": webhooks.CodeFraudSuspected,
	"5041": webhooks.CodeFraudSuspected,
	"5043": webhooks.CodeFraudSuspected,
	"5059": webhooks.CodeFraudSuspected,
	"5300": webhooks.CodeFraudSuspected,
	"5206": webhooks.CodeAuthenticationFailed,
	"5207": webhooks.CodeAuthenticationFailed,
}

// FailureCode returns paylatch's code and the one of CloudPayments to keep for the ReasonCode of a payment that was
// declined.
func FailureCode(reasonCode string) (ours webhooks.FailureCode, cloudPayments string) {
	return cmp.Or(reasons[reasonCode], webhooks.CodeProviderRejected), reasonCode
}
