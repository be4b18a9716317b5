package adyen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// exponents names the currencies with other digits at Adyen than in ISO 4217
// (https://docs.adyen.com/development-resources/currency-codes).
var exponents = map[string]int{"CLP": 2, "CVE": 0, "IDR": 0, "ISK": 2}

// outcome is the meaning of an event code with success "true" and "false".
type outcome struct{ yes, no webhooks.Kind }

// open returns the meaning with any other success or without it. This meaning ends nothing.
func (o outcome) open() webhooks.Kind {
	switch {
	case o.yes.IsRefund(), o.no.IsRefund():
		return webhooks.KindRefundPending
	case o.yes == webhooks.KindDisputed, o.no == webhooks.KindDisputed:
		return webhooks.KindDisputed
	case o.yes == webhooks.KindReview:
		return webhooks.KindIgnored
	default:
		return webhooks.KindProcessing
	}
}

// outcomes lists the event codes that are about a payment; any other is KindIgnored
// (https://docs.adyen.com/development-resources/webhooks/webhook-types). The meaning of the pairs of capture and refund is
// partly from memory.
//
// A capture that was not accepted means that the money is still held, which is all that is true of the payment: it has
// not failed, another capture may succeed, and where the payment is over already the event is late. One that fails after
// it was accepted is money taken back. A cancellation that is not carried out may find the money held, taken, or given
// up before. Where an authorisation counts as captured, a cancellation that is carried out undoes it.
//
// A chargeback takes the money when it is reported; a defence that is accepted, at once or in pre-arbitration, returns
// it, and a second chargeback takes it again
// (https://docs.adyen.com/risk-management/understanding-disputes/dispute-process-and-flow). How a pre-arbitration or
// an arbitration ends decides the place of the money: the money moves only if it was not there before.
//
// CANCEL_OR_REFUND is of a modification that is never made here. Whether it released the money or refunded it stands
// in modification.action alone, which is not signed: the money is gone one way or the other, and a person must look
// how.
var outcomes = map[string]outcome{
	"AUTHORISATION":    {webhooks.KindAuthorized, webhooks.KindFailed},
	"PENDING":          {webhooks.KindProcessing, webhooks.KindProcessing},
	"CAPTURE":          {webhooks.KindSucceeded, webhooks.KindAuthorized},
	"CAPTURE_FAILED":   {webhooks.KindReversed, webhooks.KindReversed},
	"CANCELLATION":     {webhooks.KindFailed, webhooks.KindProcessing},
	"TECHNICAL_CANCEL": {webhooks.KindFailed, webhooks.KindIgnored},
	"CANCEL_OR_REFUND": {webhooks.KindReversed, webhooks.KindIgnored},
	"EXPIRE":           {webhooks.KindFailed, webhooks.KindIgnored},
	"OFFER_CLOSED":     {webhooks.KindFailed, webhooks.KindIgnored},

	"REFUND":            {webhooks.KindRefundSucceeded, webhooks.KindRefundFailed},
	"REFUND_WITH_DATA":  {webhooks.KindRefundSucceeded, webhooks.KindRefundFailed},
	"POSTPONED_REFUND":  {webhooks.KindRefundPending, webhooks.KindRefundFailed},
	"REFUND_FAILED":     {webhooks.KindRefundFailed, webhooks.KindRefundFailed},
	"REFUNDED_REVERSED": {webhooks.KindRefundFailed, webhooks.KindRefundFailed},

	"NOTIFICATION_OF_CHARGEBACK":   {webhooks.KindDisputed, webhooks.KindDisputed},
	"REQUEST_FOR_INFORMATION":      {webhooks.KindDisputed, webhooks.KindDisputed},
	"CHARGEBACK":                   {webhooks.KindChargeback, webhooks.KindDisputed},
	"CHARGEBACK_REVERSED":          {webhooks.KindChargebackReversed, webhooks.KindIgnored},
	"DISPUTE_DEFENSE_PERIOD_ENDED": {webhooks.KindDisputed, webhooks.KindIgnored},
	"SECOND_CHARGEBACK":            {webhooks.KindChargeback, webhooks.KindIgnored},
	"INFORMATION_SUPPLIED":         {webhooks.KindDisputed, webhooks.KindIgnored},
	"PREARBITRATION_OPEN":          {webhooks.KindDisputed, webhooks.KindIgnored},
	"PREARBITRATION_DECLINED":      {webhooks.KindDisputed, webhooks.KindIgnored},
	"PREARBITRATION_ACCEPTED":      {webhooks.KindChargeback, webhooks.KindIgnored},
	"PREARBITRATION_WON":           {webhooks.KindChargebackReversed, webhooks.KindIgnored},
	"PREARBITRATION_LOST":          {webhooks.KindChargeback, webhooks.KindIgnored},
	"SCHEME_ARBITRATION":           {webhooks.KindDisputed, webhooks.KindIgnored},
	"SCHEME_ARBITRATION_WON":       {webhooks.KindChargebackReversed, webhooks.KindIgnored},
	"SCHEME_ARBITRATION_LOST":      {webhooks.KindChargeback, webhooks.KindIgnored},

	"PREARBITRATION_ISSUER_WITHDRAWN":   {webhooks.KindChargebackReversed, webhooks.KindIgnored},
	"ISSUER_RESPONSE_TIMEFRAME_EXPIRED": {webhooks.KindDisputed, webhooks.KindIgnored},

	"MANUAL_REVIEW_ACCEPT": {webhooks.KindReview, webhooks.KindIgnored},
	"MANUAL_REVIEW_REJECT": {webhooks.KindReview, webhooks.KindIgnored},
}

// reviews are the ends of a manual review in case management (https://docs.adyen.com/risk-management/case-management).
var reviews = map[string]webhooks.ReviewStatus{
	"MANUAL_REVIEW_ACCEPT": webhooks.ReviewApproved,
	"MANUAL_REVIEW_REJECT": webhooks.ReviewDeclined,
}

// event turns an item into an event. Its id is made of pspReference, eventCode and success, by which Adyen's
// documentation recognises a repetition. Of a refund, pspReference names the refund and merchantReference may be the
// refund's or the payment's, so that it is given as both.
func (i item) event(captures bool) (webhooks.Event, error) {
	psp, original := string(i.PSPReference), string(i.OriginalReference)
	e := webhooks.Event{
		ID: read.DerivedID(psp, string(i.EventCode), string(i.Success)), IDSource: webhooks.Derived, Type: string(i.EventCode),
		Kind:              i.kind(captures),
		References:        read.References(string(i.MerchantReference), original, psp),
		ProviderPaymentID: i.payment(),
		Payee:             string(i.MerchantAccount),
		OccurredAt:        read.Time(i.EventDate),
		Mode:              read.ModeText(i.live, "false", "true"),
	}
	if psp == "" || e.Type == "" {
		return e, fmt.Errorf("%w: item without pspReference or eventCode", webhooks.ErrPayload)
	}
	if e.Kind == webhooks.KindIgnored {
		return e, nil
	}
	if e.Review = i.review(); e.Kind == webhooks.KindReview {
		return e, nil // it moves no money
	}
	if e.Kind.IsRefund() {
		e.RefundID, e.RefundReference = psp, string(i.MerchantReference)
		e.References = read.References(string(i.MerchantReference), original)
	}
	if e.Type == "OFFER_CLOSED" {
		e.Container = psp
	}
	e.PageOpen = e.Type == "AUTHORISATION" && e.Kind == webhooks.KindFailed && i.onPage()
	if i.EventCode == "CAPTURE" && (i.yes() || i.no()) {
		e.MovementID, e.CaptureReference = psp, string(i.MerchantReference)
	}
	if e.Kind.IsMovement() {
		e.MovementID = MovementID(psp, string(i.EventCode))
	}
	if e.Kind.IsFailure() {
		e.FailureCode, e.ProviderCode = i.failure()
	}
	if e.Refuses = i.refuses(e.Kind); e.Refuses != "" {
		return e, nil // the amount is the command's, not the held amount
	}
	e, err := read.WithUnitsText(e, string(i.Amount.Value), string(i.Amount.Currency), exponents)
	return i.withDispute(e), err
}

// review returns the review that an item ends or, on an authorised payment, begins; nil if there is none. The flag of an authorisation is not
// signed: it only ever holds back.
func (i item) review() *webhooks.Review {
	switch status := reviews[string(i.EventCode)]; {
	case status != "":
		return &webhooks.Review{Status: status}
	case i.EventCode == "AUTHORISATION" && i.yes() && ManualReview(read.Text(read.Members(i.AdditionalData)["fraudManualReview"])):
		return &webhooks.Review{Status: webhooks.ReviewOpen}
	}
	return nil
}

// ManualReview reports whether fraudManualReview in the additional data of a payment means that a person is to review it.
func ManualReview(flag string) bool { return flag == "true" }

// payment returns the payment: each AUTHORISATION is one of its own, also of those that a customer tries on one page or
// under one reference, and is named by its pspReference in it and by its originalReference in all that follows. A
// modification that has none names no payment: its pspReference is its own. An EXPIRE has the payment's
// (https://docs.adyen.com/api-explorer/Webhooks/1/post/EXPIRE). The reference of an OFFER_CLOSED names an offer that the
// customer did not pay. The payment session and link are not signed, and not read.
func (i item) payment() string {
	switch i.EventCode {
	case "AUTHORISATION", "PENDING", "EXPIRE":
		return cmp.Or(string(i.OriginalReference), string(i.PSPReference))
	default:
		return string(i.OriginalReference)
	}
}

// refuses returns the command that an item of this kind refuses, or nothing.
func (i item) refuses(kind webhooks.Kind) webhooks.Command {
	switch {
	case i.EventCode == "CAPTURE" && kind == webhooks.KindAuthorized:
		return webhooks.CommandCapture
	case i.EventCode == "CANCELLATION" && i.no():
		return webhooks.CommandCancel
	default:
		return ""
	}
}

// MovementID returns the id of the money movement that an event code of a pspReference is about, as
// [webhooks.Event.MovementID] has it. All events of a dispute have one pspReference, which each code has once: a
// chargeback, its reversal and a second chargeback are entries. The end of an arbitration is no entry, and has the id
// of the dispute.
func MovementID(pspReference, eventCode string) string {
	switch eventCode {
	case "CHARGEBACK", "CHARGEBACK_REVERSED", "SECOND_CHARGEBACK":
		return read.DerivedID(pspReference, eventCode)
	default:
		return pspReference
	}
}

func (i item) kind(captures bool) webhooks.Kind {
	switch outcome, known := outcomes[string(i.EventCode)]; {
	case !known:
		return webhooks.KindIgnored
	case i.EventCode == "AUTHORISATION" && i.yes() && captures:
		return webhooks.KindSucceeded
	case captures && i.yes() && (i.EventCode == "CANCELLATION" || i.EventCode == "TECHNICAL_CANCEL"):
		return webhooks.KindUndone // its authorisation was counted as captured
	case i.yes():
		return outcome.yes
	case i.no():
		return outcome.no
	default:
		return outcome.open()
	}
}

func (i item) yes() bool { return i.Success == "true" }

func (i item) no() bool { return i.Success == "false" }

// onPage reports whether the payment was made on a page of Adyen's, where the customer may make another under the same
// reference. The fields are not signed: they decide only whether the page counts as open, and never the state of a payment.
func (i item) onPage() bool {
	data := read.Members(i.AdditionalData)
	return read.Text(data["checkoutSessionId"]) != "" || read.Text(data["paymentLinkId"]) != ""
}

// reasons translates the refusal reasons (https://docs.adyen.com/development-resources/refusal-reasons), in lower case;
// any other is provider_rejected.
var reasons = map[string]webhooks.FailureCode{
	"refused":                    webhooks.CodeCardDeclined,
	"blocked card":               webhooks.CodeCardDeclined,
	"expired card":               webhooks.CodeCardDeclined,
	"invalid card number":        webhooks.CodeCardDeclined,
	"cvc declined":               webhooks.CodeCardDeclined,
	"restricted card":            webhooks.CodeCardDeclined,
	"transaction not permitted":  webhooks.CodeCardDeclined,
	"declined non generic":       webhooks.CodeCardDeclined,
	"not enough balance":         webhooks.CodeInsufficientFunds,
	"withdrawal amount exceeded": webhooks.CodeInsufficientFunds,
	"3d not authenticated":       webhooks.CodeAuthenticationFailed,
	"authentication required":    webhooks.CodeAuthenticationFailed,
	"fraud":                      webhooks.CodeFraudSuspected,
	"fraud-cancelled":            webhooks.CodeFraudSuspected,
	"acquirer fraud":             webhooks.CodeFraudSuspected,
	"issuer suspected fraud":     webhooks.CodeFraudSuspected,
	"cancelled":                  webhooks.CodeCanceled,
	"shopper cancelled":          webhooks.CodeCanceled,
}

// FailureCode returns paylatch's code and the one of Adyen to keep for the reason of a refusal, which is a short text.
func FailureCode(reason string) (ours webhooks.FailureCode, adyens string) {
	return cmp.Or(reasons[strings.ToLower(reason)], webhooks.CodeProviderRejected), reason
}

// failure returns paylatch's code and Adyen's reason.
func (i item) failure() (code webhooks.FailureCode, providerCode string) {
	reason := read.Text(i.Reason)
	switch i.EventCode {
	case "AUTHORISATION":
		return FailureCode(reason)
	case "EXPIRE", "OFFER_CLOSED":
		return webhooks.CodeExpired, reason
	case "CANCELLATION", "TECHNICAL_CANCEL":
		return webhooks.CodeCanceled, reason
	}
	return webhooks.CodeProviderRejected, reason
}

// methodKinds are the newer webhooks about stored payment methods that change or end
// (https://docs.adyen.com/api-explorer/Tokenization-webhooks/1/overview). A method that a payment has stored (created, alreadyExisting)
// comes with the payment.
var methodKinds = map[string]webhooks.Kind{
	"recurring.token.updated":  webhooks.KindMethodUpdated,
	"recurring.token.disabled": webhooks.KindMethodRemoved,
}

// withMethod adds the stored payment method to a notice. Its type is the brand of the card, not that of the method. The eventId may be a
// payment's reference, so that the type belongs to the id.
func withMethod(e webhooks.Event, data json.RawMessage) (webhooks.Event, error) {
	members := read.Members(data)
	token := read.Text(members["storedPaymentMethodId"])
	if token == "" {
		return e, fmt.Errorf("%w: %s without storedPaymentMethodId", webhooks.ErrPayload, e.Type)
	}
	if e.IDSource == webhooks.Native {
		e.ID, e.IDSource = read.DerivedID(e.Type, e.ID), webhooks.Derived
	}
	e.Kind, e.Payee, e.Method = methodKinds[e.Type], read.Text(members["merchantAccount"]), &webhooks.Method{Tokens: []string{token}}
	return e, nil
}

// parseNotice reads a newer webhook. None of them is about a payment; the id is eventId or, where there is none, made
// of the type, the time and the object.
func parseNotice(body []byte) (webhooks.Event, error) {
	notice := read.Members(body)
	if notice == nil {
		return webhooks.Event{}, fmt.Errorf("%w: not a JSON object", webhooks.ErrPayload)
	}
	created := notice["createdAt"]
	if created == nil {
		created = notice["timestamp"]
	}
	e := webhooks.Event{
		ID: read.Text(notice["eventId"]), IDSource: webhooks.Native, Type: read.Text(notice["type"]), Kind: webhooks.KindIgnored,
		OccurredAt: read.Time(created),
		Mode:       read.ModeText(read.Text(notice["environment"]), "test", "live"),
	}
	if e.ID == "" {
		e.ID, e.IDSource = read.DerivedID(e.Type, read.Text(created), objectID(notice["data"])), webhooks.Derived
	}
	if methodKinds[e.Type] != "" {
		return withMethod(e, notice["data"])
	}
	return e, nil
}

// objectID returns the id of the object that the data are about, or of those that they hold.
func objectID(data json.RawMessage) string {
	object := read.Members(data)
	if id := cmp.Or(read.Text(object["id"]), read.Text(object["storedPaymentMethodId"])); id != "" {
		return id
	}
	var ids []string
	for _, raw := range object {
		if id := read.Text(read.Members(raw)["id"]); id != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, ",")
}
