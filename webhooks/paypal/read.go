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

// object holds the fields read from an order, authorization, capture, refund, dispute or a sale of the older API. Each has
// some of the fields. The place of the related ids in supplementary_data is from memory.
type object struct {
	ID             string                 `json:"id"`
	Status         read.Word              `json:"status"`
	CustomID       read.Note              `json:"custom_id"`
	InvoiceID      read.Note              `json:"invoice_id"`
	Amount         amountData             `json:"amount"`
	Links          read.Optional[[]link]  `json:"links"`
	Payee          read.Optional[payee]   `json:"payee"`
	Payer          read.Optional[payee]   `json:"payer"` // of a refund, the merchant that pays it
	ExpirationTime read.Note              `json:"expiration_time"`
	StatusDetails  json.RawMessage        `json:"status_details"`
	Processor      json.RawMessage        `json:"processor_response"`
	Supplementary  read.Optional[related] `json:"supplementary_data"`

	PurchaseUnits []purchaseUnit `json:"purchase_units"` // of an order
	OrderID       read.Note      `json:"order_id"`       // where the resource is an approval

	sale
	dispute
}

// payee is the account that is paid.
type payee struct {
	MerchantID string `json:"merchant_id"`
	Email      string `json:"email_address"`
}

func (p payee) id() string { return cmp.Or(p.MerchantID, p.Email) }

// related holds the ids of the parent resources.
type related struct {
	RelatedIDs struct {
		OrderID         string `json:"order_id"`
		AuthorizationID string `json:"authorization_id"`
		CaptureID       string `json:"capture_id"`
	} `json:"related_ids"`
}

// sale holds the fields that only version 1 has (https://developer.paypal.com/docs/api/payments/v1/).
type sale struct {
	Custom        read.Note `json:"custom"`
	InvoiceNumber read.Note `json:"invoice_number"`
	ParentPayment read.Note `json:"parent_payment"`
	SaleID        read.Note `json:"sale_id"`
}

// purchaseUnit is a purchase unit of an order.
type purchaseUnit struct {
	ReferenceID read.Note            `json:"reference_id"`
	CustomID    read.Note            `json:"custom_id"`
	InvoiceID   read.Note            `json:"invoice_id"`
	Payee       read.Optional[payee] `json:"payee"`
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
	if e.Type == "VAULT.PAYMENT-TOKEN.DELETED" {
		return withMethod(e, envelope.Resource)
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

// withMethod adds the deleted payment method of the vault to an event
// (https://developer.paypal.com/docs/checkout/save-payment-methods/). A merchant charges it as one of the wallet or as a card.
func withMethod(e webhooks.Event, resource json.RawMessage) (webhooks.Event, error) {
	id := read.Text(read.Members(resource)["id"])
	if id == "" {
		return e, fmt.Errorf("%w: %s without an id", webhooks.ErrPayload, e.Type)
	}
	e.Kind, e.Method = webhooks.KindMethodRemoved, &webhooks.Method{Tokens: []string{"paypal:" + id, "card:" + id}}
	return e, nil
}

// fill adds the resource's fields to an event. The custom_id of a refund is read as the merchant's own id of the refund,
// though it may be the payment's. Every mark may come from the buyer's browser, see About.
func (r object) fill(e webhooks.Event, reading reader) (webhooks.Event, error) {
	kind, amount := reading(r)
	e.Kind = kind
	e.Approved = e.Type == "CHECKOUT.ORDER.APPROVED"
	e.ProviderPaymentID, e.Container = r.payment(e), r.container(e.Type)
	e.References = r.references(e)
	// A buyer's browser may make an order with the public client id, and choose custom_id, invoice_id and payee
	// (https://developer.paypal.com/sdk/js/reference/).
	e.Payee, e.BrowserMark = r.payee(kind), len(r.marks()) > 0
	if kind.IsRefund() {
		e.RefundID, e.RefundReference = r.ID, string(r.CustomID)
	}
	if kind.IsMovement() {
		e.MovementID = r.DisputeID
	}
	if !ofOrder(e.Type) && r.authorization() != "" && (kind == webhooks.KindSucceeded || kind == webhooks.KindSoftFailed) {
		e.MovementID = r.ID
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

// money drops the sign: version 1 marks outgoing money by a minus.
func (m amountData) money() (*webhooks.Money, error) {
	raw := json.RawMessage(m)
	value := cmp.Or(read.TextAt(raw, "value"), read.TextAt(raw, "total"))
	return read.Decimal(strings.TrimPrefix(value, "-"), cmp.Or(read.TextAt(raw, "currency_code"), read.TextAt(raw, "currency")))
}

// up returns the id of the parent resource, if the parent is in this collection.
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

// payment returns the authorization, or the capture that was made without one. Of an order it is the only payment in it. A
// refund, a reversal and a dispute name the capture alone, which is the payment's id but where it was authorized first: all
// events are looked up, and the lookup has the id.
func (r object) payment(e webhooks.Event) string {
	switch {
	case len(r.DisputedTransactions.Value) > 0:
		return r.DisputedTransactions.Value[0].SellerTransactionID
	case ofOrder(e.Type):
		if made := r.made(); len(made) == 1 {
			return made[0]
		}
		return ""
	case e.Kind.IsRefund():
		return cmp.Or(r.authorization(), r.capture())
	}
	return cmp.Or(r.authorization(), r.capture(), r.ID)
}

// ofOrder reports whether the resource of an event type is an order, or the approval of one.
func ofOrder(eventType string) bool { return strings.HasPrefix(eventType, "CHECKOUT.") }

// made returns the ids of the payments in an order.
func (r object) made() []string {
	var ids []string
	for _, unit := range r.PurchaseUnits {
		for _, held := range unit.Payments.Authorizations {
			ids = append(ids, held.ID)
		}
		for _, taken := range unit.Payments.Captures {
			ids = append(ids, cmp.Or(taken.authorization(), taken.ID))
		}
	}
	return read.References(ids...)
}

// container returns the order, or the payment of version 1, in which sales are made.
func (r object) container(eventType string) string {
	if ofOrder(eventType) {
		return cmp.Or(r.ID, string(r.OrderID))
	}
	return cmp.Or(r.Supplementary.Value.RelatedIDs.OrderID, string(r.ParentPayment))
}

// payee returns the merchant id of the paid account, or the e-mail address if there is no merchant id. Two payees are joined
// by a comma, so that the result matches no account.
func (r object) payee(kind webhooks.Kind) string {
	paid := []string{r.Payee.Value.id()}
	if kind.IsRefund() {
		paid = append(paid, r.Payer.Value.id())
	}
	for _, unit := range r.PurchaseUnits {
		paid = append(paid, unit.Payee.Value.id())
	}
	for _, t := range r.DisputedTransactions.Value {
		paid = append(paid, t.Seller.Value.MerchantID)
	}
	return strings.Join(read.References(paid...), ",")
}

// references lists the names of the payment. A purchase unit's reference_id is the cart's, and "default" where the
// merchant gave none.
func (r object) references(e webhooks.Event) []string {
	names := r.marks()
	var carts []string
	for _, unit := range r.PurchaseUnits {
		for _, made := range append(unit.Payments.Captures, unit.Payments.Authorizations...) {
			names = append(names, made.ID)
		}
		if unit.ReferenceID != "default" && unit.CustomID == "" {
			carts = append(carts, string(unit.ReferenceID))
		}
	}
	for _, t := range r.DisputedTransactions.Value {
		names = append(names, t.SellerTransactionID)
	}
	names = append(names, e.ProviderPaymentID, r.capture())
	if !e.Kind.IsRefund() && !ofOrder(e.Type) && r.capture() == "" {
		names = append(names, r.ID)
	}
	return read.References(append(append(names, e.Container), carts...)...)
}

// marks lists the ids that the merchant, or the buyer's browser for the merchant, added to the payment.
func (r object) marks() []string {
	names := []string{string(r.CustomID), string(r.Custom), string(r.InvoiceID), string(r.InvoiceNumber)}
	for _, unit := range r.PurchaseUnits {
		names = append(names, string(unit.CustomID), string(unit.InvoiceID))
		for _, made := range append(unit.Payments.Captures, unit.Payments.Authorizations...) {
			names = append(names, string(made.CustomID))
		}
	}
	for _, t := range r.DisputedTransactions.Value {
		names = append(names, string(t.Custom), string(t.InvoiceNumber))
	}
	return read.References(names...)
}

// processorCodes translates the answers of card processors that are not just a decline
// (https://developer.paypal.com/api/rest/reference/orders/v2/errors/#processor-response-codes).
var processorCodes = map[string]webhooks.FailureCode{
	"5120": webhooks.CodeInsufficientFunds,
	"5650": webhooks.CodeAuthenticationFailed,
	"9500": webhooks.CodeFraudSuspected,
	"9510": webhooks.CodeFraudSuspected,
	"9520": webhooks.CodeFraudSuspected,
}

// FailureCode returns paylatch's code and the one of PayPal to keep for a payment that was declined: the card
// processor's where there is one, else the reason in its status_details.
func FailureCode(processorCode, reason string) (ours webhooks.FailureCode, paypals string) {
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
func (r object) failure(e webhooks.Event) (code webhooks.FailureCode, providerCode string) {
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
