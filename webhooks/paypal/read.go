package paypal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// rawEvent is the envelope (https://developer.paypal.com/docs/api/webhooks/v1/#webhooks-events_get).
type rawEvent struct {
	ID         read.Note       `json:"id"`
	EventType  read.Note       `json:"event_type"`
	CreateTime json.RawMessage `json:"create_time"`
	Resource   json.RawMessage `json:"resource"`
}

// object holds what is read of an order, authorization, capture, refund, dispute or, of the API before, sale; each has
// some of it. That the related ids stand in supplementary_data is from memory.
type object struct {
	ID             string                 `json:"id"`
	Status         read.Word              `json:"status"`
	CustomID       read.Note              `json:"custom_id"`
	InvoiceID      read.Note              `json:"invoice_id"`
	Amount         amountData             `json:"amount"`
	Links          read.Optional[[]link]  `json:"links"`
	ExpirationTime read.Note              `json:"expiration_time"`
	StatusDetails  json.RawMessage        `json:"status_details"`
	Processor      json.RawMessage        `json:"processor_response"`
	Supplementary  read.Optional[related] `json:"supplementary_data"`

	PurchaseUnits []purchaseUnit `json:"purchase_units"` // of an order

	sale
	dispute
}

// related are the ids of what a resource belongs to.
type related struct {
	RelatedIDs struct {
		OrderID         string `json:"order_id"`
		AuthorizationID string `json:"authorization_id"`
		CaptureID       string `json:"capture_id"`
	} `json:"related_ids"`
}

// sale holds what is read of version 1 besides (https://developer.paypal.com/docs/api/payments/v1/).
type sale struct {
	Custom        read.Note `json:"custom"`
	InvoiceNumber read.Note `json:"invoice_number"`
	ParentPayment read.Note `json:"parent_payment"`
	SaleID        read.Note `json:"sale_id"`
}

// purchaseUnit is a purchase unit of an order.
type purchaseUnit struct {
	ReferenceID read.Note `json:"reference_id"`
	CustomID    read.Note `json:"custom_id"`
	InvoiceID   read.Note `json:"invoice_id"`
	Payments    struct {
		Authorizations []object `json:"authorizations"`
		Captures       []object `json:"captures"`
	} `json:"payments"`
}

// amountData is an object with an amount in major units, with the names of either version.
type amountData json.RawMessage

// UnmarshalJSON implements json.Unmarshaler. null is no amount.
func (m *amountData) UnmarshalJSON(raw []byte) error {
	if *m = slices.Clone(raw); string(raw) == "null" {
		*m = nil
	}
	return nil
}

type link struct {
	Href string `json:"href"`
	Rel  string `json:"rel"`
}

func parse(body []byte) (webhooks.Event, error) {
	var envelope rawEvent
	if err := read.JSON("event", body, &envelope); err != nil {
		return webhooks.Event{}, err
	}
	e := webhooks.Event{
		ID: string(envelope.ID), IDSource: webhooks.Native, Type: string(envelope.EventType), Kind: webhooks.KindIgnored,
		OccurredAt: read.Time(envelope.CreateTime),
	}
	if e.ID == "" || e.Type == "" {
		return e, fmt.Errorf("%w: event without id or event_type", webhooks.ErrPayload)
	}
	reading := readerOf(e.Type)
	if reading == nil {
		return e, nil
	}
	var resource object
	if err := read.JSON("resource of "+e.Type, envelope.Resource, &resource); err != nil {
		return e, err
	}
	return resource.fill(e, reading)
}

// fill adds to an event what its resource contains. The custom_id of a refund is taken as the merchant's own id of it,
// though it may be the payment's.
func (r object) fill(e webhooks.Event, reading reader) (webhooks.Event, error) {
	kind, amount := reading(r)
	e.Kind = kind
	e.Approved = e.Type == "CHECKOUT.ORDER.APPROVED"
	e.References = r.references()
	e.ProviderPaymentID = r.payment()
	if kind.IsRefund() {
		e.RefundID, e.RefundReference = r.ID, string(r.CustomID)
	}
	if kind.IsMovement() {
		e.MovementID = r.DisputeID
	}
	if kind == webhooks.KindSoftFailed && r.authorization() != "" {
		e.Refuses = webhooks.CommandCapture
	}
	if kind.IsFailure() {
		e.FailureCode, e.ProviderCode = r.failure(e)
	}
	if amount == nil || kind == webhooks.KindIgnored {
		return e, nil
	}
	money, err := amount.money()
	e, err = read.WithMoney(e, money, err)
	return r.withDispute(e), err
}

// money drops the sign, by which version 1 marks what goes out.
func (m amountData) money() (*webhooks.Money, error) {
	raw := json.RawMessage(m)
	value := cmp.Or(read.TextAt(raw, "value"), read.TextAt(raw, "total"))
	return read.Decimal(strings.TrimPrefix(value, "-"), cmp.Or(read.TextAt(raw, "currency_code"), read.TextAt(raw, "currency")))
}

// up returns the id of what the resource was made from, if it is one of those.
func (r object) up(collection string) string {
	for _, link := range r.Links.Value {
		parent, id := path.Split(link.Href)
		if link.Rel == "up" && path.Base(parent) == collection {
			return id
		}
	}
	return ""
}

// capture returns the capture or sale that a refund or a reversal is of.
func (r object) capture() string {
	return cmp.Or(r.up("captures"), r.Supplementary.Value.RelatedIDs.CaptureID, string(r.SaleID))
}

// authorization returns the authorization that a capture was made from.
func (r object) authorization() string {
	return cmp.Or(r.up("authorizations"), r.Supplementary.Value.RelatedIDs.AuthorizationID)
}

// payment returns the capture, else the resource itself: an authorization, or an order that has not been captured.
func (r object) payment() string {
	if len(r.DisputedTransactions.Value) > 0 {
		return r.DisputedTransactions.Value[0].SellerTransactionID
	}
	return cmp.Or(r.capture(), r.ID)
}

// references lists the names of the payment. A purchase unit's reference_id is the cart's, and "default" where the
// merchant gave none.
func (r object) references() []string {
	names := []string{string(r.CustomID), string(r.Custom), string(r.InvoiceID), string(r.InvoiceNumber)}
	var carts []string
	for _, unit := range r.PurchaseUnits {
		names = append(names, string(unit.CustomID), string(unit.InvoiceID))
		for _, made := range append(unit.Payments.Captures, unit.Payments.Authorizations...) {
			names = append(names, string(made.CustomID), made.ID)
		}
		if unit.ReferenceID != "default" && unit.CustomID == "" {
			carts = append(carts, string(unit.ReferenceID))
		}
	}
	for _, t := range r.DisputedTransactions.Value {
		names = append(names, string(t.Custom), string(t.InvoiceNumber), t.SellerTransactionID)
	}
	names = append(names, r.payment(), r.authorization(), r.Supplementary.Value.RelatedIDs.OrderID, string(r.ParentPayment))
	return read.References(append(names, carts...)...)
}

// processorCodes translates the answers of card processors that are not just a decline
// (https://developer.paypal.com/api/rest/reference/orders/v2/errors/#processor-response-codes).
var processorCodes = map[string]string{
	"5120": webhooks.CodeInsufficientFunds,
	"5650": webhooks.CodeAuthenticationFailed,
	"9500": webhooks.CodeFraudSuspected,
	"9510": webhooks.CodeFraudSuspected,
	"9520": webhooks.CodeFraudSuspected,
}

// FailureCode returns paylatch's code and the one of PayPal to keep for a payment that was declined: the card
// processor's where there is one, else the reason in its status_details.
func FailureCode(processorCode, reason string) (ours, paypals string) {
	switch {
	case processorCode != "":
		return cmp.Or(processorCodes[processorCode], webhooks.CodeCardDeclined), processorCode
	case reason == "BUYER_COMPLAINT", reason == "DECLINED_BY_RISK_FRAUD_FILTERS":
		return webhooks.CodeFraudSuspected, reason
	default:
		return webhooks.CodeProviderRejected, reason
	}
}

// failure returns paylatch's code and PayPal's.
func (r object) failure(e webhooks.Event) (code, providerCode string) {
	processorCode, reason := read.Text(read.Members(r.Processor)["response_code"]), read.Text(read.Members(r.StatusDetails)["reason"])
	switch {
	case processorCode != "" && (r.Status == "DECLINED" || r.Status == "FAILED" || r.Status == "DENIED"):
		return FailureCode(processorCode, reason)
	case e.Type == "PAYMENT.AUTHORIZATION.VOIDED" && r.expired(e.OccurredAt):
		return webhooks.CodeExpired, reason
	case strings.HasSuffix(e.Type, ".VOIDED"), r.Status == "CANCELLED":
		return webhooks.CodeCanceled, reason
	case e.Type == "CHECKOUT.PAYMENT-APPROVAL.REVERSED":
		return webhooks.CodeExpired, reason
	default:
		return FailureCode("", reason)
	}
}

// expired reports whether an authorization had reached the end of its life.
func (r object) expired(at time.Time) bool {
	end, err := time.Parse(time.RFC3339, string(r.ExpirationTime))
	return err == nil && !at.Before(end)
}
