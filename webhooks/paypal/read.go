package paypal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// rawEvent is the envelope (https://developer.paypal.com/docs/api/webhooks/v1/#webhooks-events_get).
type rawEvent struct {
	ID         string          `json:"id"`
	EventType  string          `json:"event_type"`
	CreateTime json.RawMessage `json:"create_time"`
	Resource   json.RawMessage `json:"resource"`
}

// object holds what is read of an order, authorization, capture, refund, dispute or, of the API before, sale; each has
// some of it. That the related ids stand in supplementary_data is from memory.
type object struct {
	ID             string      `json:"id"`
	Status         string      `json:"status"`
	CustomID       string      `json:"custom_id"`
	InvoiceID      string      `json:"invoice_id"`
	Amount         *amountData `json:"amount"`
	Links          []link      `json:"links"`
	ExpirationTime string      `json:"expiration_time"`
	StatusDetails  struct {
		Reason string `json:"reason"`
	} `json:"status_details"`
	ProcessorResponse struct {
		ResponseCode string `json:"response_code"`
	} `json:"processor_response"`
	SupplementaryData struct {
		RelatedIDs struct {
			OrderID         string `json:"order_id"`
			AuthorizationID string `json:"authorization_id"`
			CaptureID       string `json:"capture_id"`
		} `json:"related_ids"`
	} `json:"supplementary_data"`

	PurchaseUnits []purchaseUnit `json:"purchase_units"` // of an order

	sale
	dispute
}

// sale holds what is read of version 1 besides (https://developer.paypal.com/docs/api/payments/v1/).
type sale struct {
	Custom        string `json:"custom"`
	InvoiceNumber string `json:"invoice_number"`
	ParentPayment string `json:"parent_payment"`
	SaleID        string `json:"sale_id"`
}

// purchaseUnit is a purchase unit of an order.
type purchaseUnit struct {
	ReferenceID string `json:"reference_id"`
	CustomID    string `json:"custom_id"`
	InvoiceID   string `json:"invoice_id"`
	Payments    struct {
		Authorizations []object `json:"authorizations"`
		Captures       []object `json:"captures"`
	} `json:"payments"`
}

// amountData is an amount in major units, with the names of either version.
type amountData struct {
	CurrencyCode string `json:"currency_code"`
	Value        string `json:"value"`
	Currency     string `json:"currency"`
	Total        string `json:"total"`
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
	if envelope.ID == "" || envelope.EventType == "" {
		return webhooks.Event{}, fmt.Errorf("%w: event without id or event_type", webhooks.ErrPayload)
	}
	e := webhooks.Event{
		ID: envelope.ID, IDSource: webhooks.Native, Type: envelope.EventType, Kind: webhooks.KindIgnored,
		OccurredAt: read.Time(envelope.CreateTime),
	}
	reading := readerOf(e.Type)
	if reading == nil {
		return e, nil
	}
	var resource object
	if err := read.JSON("resource of "+e.Type, envelope.Resource, &resource); err != nil {
		return webhooks.Event{}, err
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
		e.RefundID, e.RefundReference = r.ID, r.CustomID
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
	return read.WithMoney(e, &money, err)
}

// money drops the sign, by which version 1 marks what goes out.
func (m amountData) money() (webhooks.Money, error) {
	value := cmp.Or(m.Value, m.Total)
	return webhooks.ParseDecimal(strings.TrimPrefix(value, "-"), cmp.Or(m.CurrencyCode, m.Currency))
}

// up returns the id of what the resource was made from, if it is one of those.
func (r object) up(collection string) string {
	for _, link := range r.Links {
		parent, id := path.Split(link.Href)
		if link.Rel == "up" && path.Base(parent) == collection {
			return id
		}
	}
	return ""
}

// capture returns the capture or sale that a refund or a reversal is of.
func (r object) capture() string {
	return cmp.Or(r.up("captures"), r.SupplementaryData.RelatedIDs.CaptureID, r.SaleID)
}

// authorization returns the authorization that a capture was made from.
func (r object) authorization() string {
	return cmp.Or(r.up("authorizations"), r.SupplementaryData.RelatedIDs.AuthorizationID)
}

// payment returns the capture, else the resource itself: an authorization, or an order that has not been captured.
func (r object) payment() string {
	if len(r.DisputedTransactions) > 0 {
		return r.DisputedTransactions[0].SellerTransactionID
	}
	return cmp.Or(r.capture(), r.ID)
}

// references lists the names of the payment. A purchase unit's reference_id is the cart's, and "default" where the
// merchant gave none.
func (r object) references() []string {
	names := []string{r.CustomID, r.Custom, r.InvoiceID, r.InvoiceNumber}
	var carts []string
	for _, unit := range r.PurchaseUnits {
		names = append(names, unit.CustomID, unit.InvoiceID)
		for _, made := range append(unit.Payments.Captures, unit.Payments.Authorizations...) {
			names = append(names, made.CustomID, made.ID)
		}
		if unit.ReferenceID != "default" && unit.CustomID == "" {
			carts = append(carts, unit.ReferenceID)
		}
	}
	for _, t := range r.DisputedTransactions {
		names = append(names, t.Custom, t.InvoiceNumber, t.SellerTransactionID)
	}
	names = append(names, r.payment(), r.authorization(), r.SupplementaryData.RelatedIDs.OrderID, r.ParentPayment)
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
	processorCode, reason := r.ProcessorResponse.ResponseCode, r.StatusDetails.Reason
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
	end, err := time.Parse(time.RFC3339, r.ExpirationTime)
	return err == nil && !at.Before(end)
}
