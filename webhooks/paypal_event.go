package webhooks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"
)

// paypalEvent is the envelope
// (https://developer.paypal.com/docs/api/webhooks/v1/#webhooks-events_get).
type paypalEvent struct {
	ID         string          `json:"id"`
	EventType  string          `json:"event_type"`
	CreateTime json.RawMessage `json:"create_time"`
	Resource   json.RawMessage `json:"resource"`
}

// paypalResource holds what is read of an order, authorization, capture, refund,
// dispute or, of the API before, sale; each has some of it. That the related ids
// stand in supplementary_data is from memory.
type paypalResource struct {
	ID             string       `json:"id"`
	Status         string       `json:"status"`
	CustomID       string       `json:"custom_id"`
	InvoiceID      string       `json:"invoice_id"`
	Amount         *paypalMoney `json:"amount"`
	Links          []paypalLink `json:"links"`
	ExpirationTime string       `json:"expiration_time"`
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

	PurchaseUnits []paypalUnit `json:"purchase_units"` // of an order

	paypalSale
	paypalDispute
}

// paypalSale holds what is read of version 1 besides
// (https://developer.paypal.com/docs/api/payments/v1/).
type paypalSale struct {
	Custom        string `json:"custom"`
	InvoiceNumber string `json:"invoice_number"`
	ParentPayment string `json:"parent_payment"`
	SaleID        string `json:"sale_id"`
}

// paypalUnit is a purchase unit of an order.
type paypalUnit struct {
	ReferenceID string `json:"reference_id"`
	CustomID    string `json:"custom_id"`
	InvoiceID   string `json:"invoice_id"`
	Payments    struct {
		Authorizations []paypalResource `json:"authorizations"`
		Captures       []paypalResource `json:"captures"`
	} `json:"payments"`
}

// paypalMoney is an amount in major units, with the names of either version.
type paypalMoney struct {
	CurrencyCode string `json:"currency_code"`
	Value        string `json:"value"`
	Currency     string `json:"currency"`
	Total        string `json:"total"`
}

type paypalLink struct {
	Href string `json:"href"`
	Rel  string `json:"rel"`
}

func parsePayPal(body []byte) (Event, error) {
	var envelope paypalEvent
	if err := decode("event", body, &envelope); err != nil {
		return Event{}, err
	}
	if envelope.ID == "" || envelope.EventType == "" {
		return Event{}, fmt.Errorf("%w: event without id or event_type", ErrPayload)
	}
	e := Event{
		ID: envelope.ID, IDSource: Native, Type: envelope.EventType, Kind: KindIgnored,
		OccurredAt: jsonTime(envelope.CreateTime),
	}
	reading := paypalReading(e.Type)
	if reading == nil {
		return e, nil
	}
	var resource paypalResource
	if err := decode("resource of "+e.Type, envelope.Resource, &resource); err != nil {
		return Event{}, err
	}
	return resource.fill(e, reading)
}

// fill adds to an event what its resource says. The custom_id of a refund is taken
// as the merchant's own id of it, though it may be the payment's.
func (r paypalResource) fill(e Event, reading paypalReader) (Event, error) {
	kind, amount := reading(r)
	e.Kind = kind
	e.Approved = e.Type == "CHECKOUT.ORDER.APPROVED"
	e.References = r.references()
	e.ProviderPaymentID = r.payment()
	if kind.refund() {
		e.RefundID, e.RefundReference = r.ID, r.CustomID
	}
	if kind.moves() {
		e.MovementID = r.DisputeID
	}
	e.CaptureRefused = kind == KindSoftFailed && r.authorization() != ""
	if kind.failed() {
		e.FailureCode, e.ProviderCode = r.failure(e)
	}
	if amount == nil || kind == KindIgnored {
		return e, nil
	}
	money, err := amount.money()
	return e.withMoney(&money, err)
}

// money drops the sign, by which version 1 marks what goes out.
func (m paypalMoney) money() (Money, error) {
	value := cmp.Or(m.Value, m.Total)
	return ParseDecimal(strings.TrimPrefix(value, "-"), cmp.Or(m.CurrencyCode, m.Currency))
}

// up returns the id of what the resource was made from, if it is one of those.
func (r paypalResource) up(collection string) string {
	for _, link := range r.Links {
		parent, id := path.Split(link.Href)
		if link.Rel == "up" && path.Base(parent) == collection {
			return id
		}
	}
	return ""
}

// capture returns the capture or sale that a refund or a reversal is of.
func (r paypalResource) capture() string {
	return cmp.Or(r.up("captures"), r.SupplementaryData.RelatedIDs.CaptureID, r.SaleID)
}

// authorization returns the authorization that a capture was made from.
func (r paypalResource) authorization() string {
	return cmp.Or(r.up("authorizations"), r.SupplementaryData.RelatedIDs.AuthorizationID)
}

// payment returns the capture, else the resource itself: an authorization, or an
// order that has not been captured.
func (r paypalResource) payment() string {
	if len(r.DisputedTransactions) > 0 {
		return r.DisputedTransactions[0].SellerTransactionID
	}
	return cmp.Or(r.capture(), r.ID)
}

// references lists the names of the payment. A purchase unit's reference_id is
// the cart's, and "default" where the merchant gave none.
func (r paypalResource) references() []string {
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
	return references(append(names, carts...)...)
}

// paypalProcessorCodes translates the answers of card processors that are not
// just a decline
// (https://developer.paypal.com/api/rest/reference/orders/v2/errors/#processor-response-codes).
var paypalProcessorCodes = map[string]string{
	"5120": codeInsufficientFunds,
	"5650": codeAuthenticationFailed,
	"9500": codeFraudSuspected,
	"9510": codeFraudSuspected,
	"9520": codeFraudSuspected,
}

// PayPalFailureCode returns paylatch's code and the one of PayPal to keep for a
// payment that was declined: the card processor's where there is one, else the
// reason in its status_details.
func PayPalFailureCode(processorCode, reason string) (ours, paypals string) {
	switch {
	case processorCode != "":
		return cmp.Or(paypalProcessorCodes[processorCode], codeCardDeclined), processorCode
	case reason == "BUYER_COMPLAINT", reason == "DECLINED_BY_RISK_FRAUD_FILTERS":
		return codeFraudSuspected, reason
	default:
		return codeProviderRejected, reason
	}
}

// failure returns paylatch's code and PayPal's.
func (r paypalResource) failure(e Event) (code, providerCode string) {
	processorCode, reason := r.ProcessorResponse.ResponseCode, r.StatusDetails.Reason
	switch {
	case processorCode != "" && (r.Status == "DECLINED" || r.Status == "FAILED" || r.Status == "DENIED"):
		return PayPalFailureCode(processorCode, reason)
	case e.Type == "PAYMENT.AUTHORIZATION.VOIDED" && r.expired(e.OccurredAt):
		return codeExpired, reason
	case strings.HasSuffix(e.Type, ".VOIDED"), r.Status == "CANCELLED":
		return codeCanceled, reason
	case e.Type == "CHECKOUT.PAYMENT-APPROVAL.REVERSED":
		return codeExpired, reason
	default:
		return PayPalFailureCode("", reason)
	}
}

// expired reports whether an authorization had reached the end of its life.
func (r paypalResource) expired(at time.Time) bool {
	end, err := time.Parse(time.RFC3339, r.ExpirationTime)
	return err == nil && !at.Before(end)
}
