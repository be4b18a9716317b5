package webhooks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// adyenExponents names the currencies whose digits at Adyen differ from ISO 4217
// (https://docs.adyen.com/development-resources/currency-codes).
var adyenExponents = map[string]int{"CLP": 2, "CVE": 0, "IDR": 0, "ISK": 2}

// adyenOutcome says what an event code means with success "true" and "false".
type adyenOutcome struct{ yes, no Kind }

// open is what it means with any other success, or none: nothing that ends anything.
func (o adyenOutcome) open() Kind {
	switch {
	case o.yes.refund(), o.no.refund():
		return KindRefundPending
	case o.yes == KindDisputed, o.no == KindDisputed:
		return KindDisputed
	default:
		return KindProcessing
	}
}

// adyenOutcomes lists the event codes that are about a payment; any other is
// KindIgnored
// (https://docs.adyen.com/development-resources/webhooks/webhook-types). What the
// pairs of capture and refund mean is partly from memory.
//
// A capture that was not accepted says that the money is still held, which is all
// that is true of the payment: it has not failed, another capture may succeed, and
// where the payment is over already the news is late. One that fails after it was
// accepted is money taken back. A cancellation that is not carried out may find the
// money held, taken, or given up before.
//
// A chargeback takes the money when it is told of; a defence that is accepted, at once
// or in pre-arbitration, returns it, and a second chargeback takes it again
// (https://docs.adyen.com/risk-management/understanding-disputes/dispute-process-and-flow).
// A pre-arbitration that is lost leaves it where the chargeback took it.
//
// CANCEL_OR_REFUND is of a modification that is never made here. Whether it released
// the money or paid it back is said by modification.action alone, which is not
// signed: the money is gone one way or the other, and a person must look how.
var adyenOutcomes = map[string]adyenOutcome{
	"AUTHORISATION":    {KindAuthorized, KindFailed},
	"PENDING":          {KindProcessing, KindProcessing},
	"CAPTURE":          {KindSucceeded, KindAuthorized},
	"CAPTURE_FAILED":   {KindReversed, KindReversed},
	"CANCELLATION":     {KindFailed, KindProcessing},
	"TECHNICAL_CANCEL": {KindFailed, KindIgnored},
	"CANCEL_OR_REFUND": {KindReversed, KindIgnored},
	"EXPIRE":           {KindFailed, KindIgnored},
	"OFFER_CLOSED":     {KindFailed, KindIgnored},

	"REFUND":            {KindRefundSucceeded, KindRefundFailed},
	"REFUND_WITH_DATA":  {KindRefundSucceeded, KindRefundFailed},
	"POSTPONED_REFUND":  {KindRefundPending, KindRefundFailed},
	"REFUND_FAILED":     {KindRefundFailed, KindRefundFailed},
	"REFUNDED_REVERSED": {KindRefundFailed, KindRefundFailed},

	"NOTIFICATION_OF_CHARGEBACK":   {KindDisputed, KindDisputed},
	"REQUEST_FOR_INFORMATION":      {KindDisputed, KindDisputed},
	"CHARGEBACK":                   {KindChargeback, KindDisputed},
	"CHARGEBACK_REVERSED":          {KindChargebackReversed, KindIgnored},
	"DISPUTE_DEFENSE_PERIOD_ENDED": {KindDisputed, KindIgnored},
	"SECOND_CHARGEBACK":            {KindChargeback, KindIgnored},
	"PREARBITRATION_WON":           {KindChargebackReversed, KindIgnored},
	"PREARBITRATION_LOST":          {KindChargeback, KindIgnored},
}

// event turns an item into an event. Its id is made of pspReference, eventCode
// and success, by which Adyen itself says to recognise a repetition. Of a refund,
// pspReference names the refund and merchantReference may be the refund's or the
// payment's, so that it is given as both.
func (i adyenItem) event(captures bool) (Event, error) {
	if i.PSPReference == "" || i.EventCode == "" {
		return Event{}, fmt.Errorf("%w: item without pspReference or eventCode", ErrPayload)
	}
	psp, original := string(i.PSPReference), string(i.OriginalReference)
	e := Event{
		ID: derivedID(psp, string(i.EventCode), string(i.Success)), IDSource: Derived, Type: string(i.EventCode),
		Kind:              i.kind(captures),
		References:        references(string(i.MerchantReference), original, psp),
		ProviderPaymentID: cmp.Or(original, psp),
		OccurredAt:        jsonTime(i.EventDate),
		TestKnown:         i.live == "true" || i.live == "false", Test: i.live == "false",
	}
	if e.Kind == KindIgnored {
		return e, nil
	}
	if e.Kind.refund() {
		e.RefundID, e.RefundReference = psp, string(i.MerchantReference)
		e.References = references(string(i.MerchantReference), original)
	}
	if e.Kind.moves() || e.Kind == KindDisputed {
		// What names no payment is named by its dispute, whose name the payment may have.
		e.ProviderPaymentID = original
	}
	if e.Kind.moves() {
		e.MovementID = i.movement()
	}
	if e.Kind.failed() {
		e.FailureCode, e.ProviderCode = i.failure()
	}
	e.CaptureRefused = i.EventCode == "CAPTURE" && e.Kind == KindAuthorized
	e.CancelRefused = i.EventCode == "CANCELLATION" && i.no()
	if e.CaptureRefused || e.CancelRefused {
		return e, nil // the amount is of the command, not of what is held
	}
	return e.withMoney(minorMoneyIn(string(i.Amount.Value), string(i.Amount.Currency), adyenExponents))
}

// movement names what moved. All events of a dispute have one pspReference, by which
// the first chargeback and its reversal go; a pre-arbitration that is lost is about
// that chargeback.
func (i adyenItem) movement() string {
	switch i.EventCode {
	case "SECOND_CHARGEBACK", "PREARBITRATION_WON":
		return derivedID(string(i.PSPReference), string(i.EventCode))
	default:
		return string(i.PSPReference)
	}
}

func (i adyenItem) kind(captures bool) Kind {
	switch outcome, known := adyenOutcomes[string(i.EventCode)]; {
	case !known:
		return KindIgnored
	case i.EventCode == "AUTHORISATION" && i.yes() && captures:
		return KindSucceeded
	case i.EventCode == "AUTHORISATION" && i.no() && i.retriable():
		return KindSoftFailed
	case i.yes():
		return outcome.yes
	case i.no():
		return outcome.no
	default:
		return outcome.open()
	}
}

func (i adyenItem) yes() bool { return i.Success == "true" }

func (i adyenItem) no() bool { return i.Success == "false" }

// retriable reports whether the payment was made on a page of Adyen's, where the
// customer may try again under the same reference. The fields are not signed:
// what they decide is only whether the payment is cancelled before it fails.
func (i adyenItem) retriable() bool {
	data := members(i.AdditionalData)
	return jsonText(data["checkoutSessionId"]) != "" || jsonText(data["paymentLinkId"]) != ""
}

// adyenReasons translates the refusal reasons
// (https://docs.adyen.com/development-resources/refusal-reasons), in lower case;
// any other is provider_rejected.
var adyenReasons = map[string]string{
	"refused":                    codeCardDeclined,
	"blocked card":               codeCardDeclined,
	"expired card":               codeCardDeclined,
	"invalid card number":        codeCardDeclined,
	"cvc declined":               codeCardDeclined,
	"restricted card":            codeCardDeclined,
	"transaction not permitted":  codeCardDeclined,
	"declined non generic":       codeCardDeclined,
	"not enough balance":         codeInsufficientFunds,
	"withdrawal amount exceeded": codeInsufficientFunds,
	"3d not authenticated":       codeAuthenticationFailed,
	"authentication required":    codeAuthenticationFailed,
	"fraud":                      codeFraudSuspected,
	"fraud-cancelled":            codeFraudSuspected,
	"acquirer fraud":             codeFraudSuspected,
	"issuer suspected fraud":     codeFraudSuspected,
	"cancelled":                  codeCanceled,
	"shopper cancelled":          codeCanceled,
}

// AdyenFailureCode returns paylatch's code and the one of Adyen to keep for the
// reason of a refusal, which is a short text.
func AdyenFailureCode(reason string) (ours, adyens string) {
	return cmp.Or(adyenReasons[strings.ToLower(reason)], codeProviderRejected), reason
}

// failure returns paylatch's code and Adyen's reason.
func (i adyenItem) failure() (code, providerCode string) {
	reason := jsonText(i.Reason)
	switch i.EventCode {
	case "AUTHORISATION":
		return AdyenFailureCode(reason)
	case "EXPIRE", "OFFER_CLOSED":
		return codeExpired, reason
	case "CANCELLATION", "TECHNICAL_CANCEL":
		return codeCanceled, reason
	}
	return codeProviderRejected, reason
}

// parseAdyenNotice reads a newer webhook. None of them is about a payment; the id
// is eventId or, where there is none, made of the type, the time and the object.
func parseAdyenNotice(body []byte) (Event, error) {
	notice := members(body)
	if notice == nil {
		return Event{}, fmt.Errorf("%w: not a JSON object", ErrPayload)
	}
	created := notice["createdAt"]
	if created == nil {
		created = notice["timestamp"]
	}
	environment := jsonText(notice["environment"])
	e := Event{
		ID: jsonText(notice["eventId"]), IDSource: Native, Type: jsonText(notice["type"]), Kind: KindIgnored,
		OccurredAt: jsonTime(created),
		TestKnown:  environment == "test" || environment == "live", Test: environment == "test",
	}
	if e.ID == "" {
		e.ID, e.IDSource = derivedID(e.Type, jsonText(created), adyenObjectID(notice["data"])), Derived
	}
	return e, nil
}

// adyenObjectID returns the id of the object that the data are about, or of those
// that they hold.
func adyenObjectID(data json.RawMessage) string {
	object := members(data)
	if id := jsonText(object["id"]); id != "" {
		return id
	}
	var ids []string
	for _, raw := range object {
		if id := jsonText(members(raw)["id"]); id != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, ",")
}
