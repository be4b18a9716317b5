package tbank

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// parse reads the signed fields of a notification (https://www.tbank.ru/kassa/dev/payments/, "Уведомления"). Its id is
// made of PaymentId, Status and Amount, and of the arrival where the bank must be called: two partial refunds may look
// the same. The linking of a card or an account carries a RequestKey. It is never about a payment, regardless of its
// status.
func parse(d webhooks.Delivery, fields map[string]string, currency string) (webhooks.Event, error) {
	e := webhooks.Event{
		ID:       read.DerivedID(fields["PaymentId"], fields["Status"], fields["Amount"]),
		IDSource: webhooks.Derived, Type: fields["Status"], Payee: fields["TerminalKey"],
	}
	if strings.HasSuffix(fields["TerminalKey"], "DEMO") {
		e.Mode = webhooks.ModeTest
	}
	e.Kind, e.NeedsFetch = kindOf(fields["Status"])
	if fields["RequestKey"] != "" || fields["NotificationType"] != "" {
		e.ID = read.DerivedID(fields["RequestKey"], fields["Status"])
		e.Kind = webhooks.KindIgnored
	}
	if e.Kind == webhooks.KindIgnored {
		return e, nil
	}
	if fields["PaymentId"] == "" {
		return e, fmt.Errorf("%w: %s without PaymentId", webhooks.ErrPayload, e.Type)
	}
	if fields["Success"] == "false" && (e.Kind == webhooks.KindAuthorized || e.Kind == webhooks.KindSucceeded) {
		e.Kind, e.NeedsFetch = webhooks.KindNotice, true
	}
	if e.NeedsFetch {
		e.ID = read.NoticeID(d, fields["PaymentId"], e.Type, fields["Amount"])
	}
	return fill(e, fields, currency)
}

// kindOf reads a status (the page's "Статусная модель платежа"): AUTH_FAIL is of one try on the bank's page, which may be
// followed by others until ATTEMPTS_EXPIRED or DEADLINE_EXPIRED (that it may is from memory); REJECTED is the end. It also
// reports whether only a call to the bank can decide the meaning. A partial reversal
// leaves the rest held. The documentation leaves open whether a refund's amount is the refunded or the remaining amount.
func kindOf(status string) (kind webhooks.Kind, needsFetch bool) {
	switch status {
	case "NEW", "FORM_SHOWED", "AUTHORIZING", "3DS_CHECKED", "CONFIRMING":
		return webhooks.KindProcessing, false
	case "3DS_CHECKING":
		return webhooks.KindActionRequired, false
	case "AUTHORIZED":
		return webhooks.KindAuthorized, false
	case "CONFIRMED":
		return webhooks.KindSucceeded, false
	case "AUTH_FAIL":
		return webhooks.KindSoftFailed, false
	case "REJECTED", "REVERSED", "CANCELED", "DEADLINE_EXPIRED", "ATTEMPTS_EXPIRED":
		return webhooks.KindFailed, false
	case "PARTIAL_REVERSED":
		return webhooks.KindNotice, true
	case "REFUNDING":
		return webhooks.KindRefundPending, true
	case "REFUNDED", "PARTIAL_REFUNDED":
		return webhooks.KindRefundSucceeded, true
	default:
		return webhooks.KindIgnored, false
	}
}

// fill adds the fields to an event. All tries on the bank's page have one PaymentId. An OrderId may have several payments,
// and a browser may have written it: the form of the bank's script begins a payment with TerminalKey alone
// (https://www.tbank.ru/kassa/dev/widget/; that it needs no password is from memory).
func fill(e webhooks.Event, fields map[string]string, currency string) (webhooks.Event, error) {
	e.References = read.References(fields["OrderId"], fields["PaymentId"])
	e.ProviderPaymentID, e.BrowserMark = fields["PaymentId"], fields["OrderId"] != ""
	if e.Kind.IsFailure() {
		e.FailureCode, e.ProviderCode = FailureCode(e.Type, fields["ErrorCode"])
		e.PageOpen = e.Kind == webhooks.KindSoftFailed
	}
	if strings.HasPrefix(e.Type, "PARTIAL_") {
		return e, nil
	}
	return read.WithUnitsText(e, fields["Amount"], currency, nil)
}

// errorCodes translates ErrorCode (https://www.tbank.ru/kassa/dev/payments/, "Коды ошибок"); it is from memory.
var errorCodes = map[string]webhooks.FailureCode{
	"101":  webhooks.CodeAuthenticationFailed,
	"1034": webhooks.CodeFraudSuspected,
	"1041": webhooks.CodeFraudSuspected,
	"1043": webhooks.CodeFraudSuspected,
	"1051": webhooks.CodeInsufficientFunds,
	"1059": webhooks.CodeFraudSuspected,
}

// FailureCode returns paylatch's code and the one of the bank to keep for the Status and ErrorCode of a payment that
// failed.
func FailureCode(status, errorCode string) (ours webhooks.FailureCode, banks string) {
	if errorCode == "0" {
		errorCode = ""
	}
	switch status {
	case "REVERSED", "CANCELED":
		return webhooks.CodeCanceled, errorCode
	case "DEADLINE_EXPIRED", "ATTEMPTS_EXPIRED":
		return webhooks.CodeExpired, errorCode
	default:
		return cmp.Or(errorCodes[errorCode], webhooks.CodeCardDeclined), errorCode
	}
}
