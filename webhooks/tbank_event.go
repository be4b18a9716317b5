package webhooks

import (
	"cmp"
	"fmt"
	"strings"
)

// parseTBank reads the signed fields of a notification
// (https://www.tbank.ru/kassa/dev/payments/, "Уведомления"). Its id is made of
// PaymentId, Status and Amount, and of the arrival where the bank must be asked:
// two partial refunds may say the same. The linking of a card or an account, which carries
// a RequestKey, is never about a payment, whatever its status is called.
func parseTBank(d Delivery, fields map[string]string, currency string) (Event, error) {
	e := Event{
		ID:       derivedID(fields["PaymentId"], fields["Status"], fields["Amount"]),
		IDSource: Derived, Type: fields["Status"],
		TestKnown: strings.HasSuffix(fields["TerminalKey"], "DEMO"),
	}
	e.Test = e.TestKnown
	e.Kind, e.NeedsFetch = tbankKind(fields["Status"])
	if fields["RequestKey"] != "" || fields["NotificationType"] != "" {
		e.ID = derivedID(fields["RequestKey"], fields["Status"])
		e.Kind = KindIgnored
	}
	if e.Kind == KindIgnored {
		return e, nil
	}
	if fields["PaymentId"] == "" {
		return Event{}, fmt.Errorf("%w: %s without PaymentId", ErrPayload, e.Type)
	}
	if fields["Success"] == "false" && (e.Kind == KindAuthorized || e.Kind == KindSucceeded) {
		e.Kind, e.NeedsFetch = KindNotice, true
	}
	if e.NeedsFetch {
		e.ID = noticeID(d, fields["PaymentId"], e.Type, fields["Amount"])
	}
	return fillTBank(e, fields, currency)
}

// tbankKind reads a status, and says whether the bank must be asked what it means:
// a partial reversal leaves the rest held, and the amount of a refund is not said
// to be the one paid back or the one that is left.
func tbankKind(status string) (kind Kind, needsFetch bool) {
	switch status {
	case "NEW", "FORM_SHOWED", "AUTHORIZING", "3DS_CHECKED", "CONFIRMING":
		return KindProcessing, false
	case "3DS_CHECKING":
		return KindActionRequired, false
	case "AUTHORIZED":
		return KindAuthorized, false
	case "CONFIRMED":
		return KindSucceeded, false
	case "AUTH_FAIL":
		return KindSoftFailed, false
	case "REJECTED", "REVERSED", "CANCELED", "DEADLINE_EXPIRED", "ATTEMPTS_EXPIRED":
		return KindFailed, false
	case "PARTIAL_REVERSED":
		return KindNotice, true
	case "REFUNDING":
		return KindRefundPending, true
	case "REFUNDED", "PARTIAL_REFUNDED":
		return KindRefundSucceeded, true
	default:
		return KindIgnored, false
	}
}

// fillTBank adds to an event what the fields say.
func fillTBank(e Event, fields map[string]string, currency string) (Event, error) {
	e.References = references(fields["OrderId"], fields["PaymentId"])
	e.ProviderPaymentID = fields["PaymentId"]
	if e.Kind.failed() {
		e.FailureCode, e.ProviderCode = TBankFailureCode(e.Type, fields["ErrorCode"])
	}
	if strings.HasPrefix(e.Type, "PARTIAL_") {
		return e, nil
	}
	return e.withMoney(minorMoneyIn(fields["Amount"], currency, nil))
}

// tbankErrors translates ErrorCode
// (https://www.tbank.ru/kassa/dev/payments/, "Коды ошибок"); it is from memory.
var tbankErrors = map[string]string{
	"101":  codeAuthenticationFailed,
	"1034": codeFraudSuspected,
	"1041": codeFraudSuspected,
	"1043": codeFraudSuspected,
	"1051": codeInsufficientFunds,
	"1059": codeFraudSuspected,
}

// TBankFailureCode returns paylatch's code and the one of the bank to keep for the
// Status and ErrorCode of a payment that failed.
func TBankFailureCode(status, errorCode string) (ours, banks string) {
	if errorCode == "0" {
		errorCode = ""
	}
	switch status {
	case "REVERSED", "CANCELED":
		return codeCanceled, errorCode
	case "DEADLINE_EXPIRED", "ATTEMPTS_EXPIRED":
		return codeExpired, errorCode
	default:
		return cmp.Or(tbankErrors[errorCode], codeCardDeclined), errorCode
	}
}
