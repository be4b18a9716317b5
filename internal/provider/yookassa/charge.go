package yookassa

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// chargeRequest creates a payment (https://yookassa.ru/developers/api#create_payment).
type chargeRequest struct {
	Amount            amount            `json:"amount"`
	PaymentToken      string            `json:"payment_token,omitempty"`
	PaymentMethodID   string            `json:"payment_method_id,omitempty"`
	PaymentMethodData *methodData       `json:"payment_method_data,omitempty"`
	Confirmation      *confirmation     `json:"confirmation,omitempty"`
	Save              bool              `json:"save_payment_method,omitempty"`
	Capture           bool              `json:"capture"`
	Customer          string            `json:"merchant_customer_id,omitempty"`
	IP                string            `json:"client_ip,omitempty"`
	Receipt           *receipt          `json:"receipt,omitempty"`
	Metadata          map[string]string `json:"metadata"`
	// Description, Airline and Statements are YooKassa's own members (provider_data). The customer reads the Description
	// on the page.
	Description json.RawMessage `json:"description,omitempty"`
	Airline     json.RawMessage `json:"airline,omitempty"`
	Statements  json.RawMessage `json:"statements,omitempty"`
}

type methodData struct {
	Type  string `json:"type"`
	Phone string `json:"phone,omitempty"`
}

// Charge implements gateway.Provider. A decline is final: YooKassa cancels the payment.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	request, err := c.requestOf(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	var made object
	refused, err := c.api.Post(ctx, "/payments", keyed(ch.IdempotencyKey), ch.Permit, request, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return outcome(made)
	}
	return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.Code)}, nil
}

func (c *Client) requestOf(ch gateway.Charge) (chargeRequest, error) {
	value, err := kit.Decimal(ch.Money)
	if err != nil {
		return chargeRequest{}, err
	}
	on, err := c.receiptOf(gateway.ReceiptOf(ch.Details), ch.Money.Currency)
	r := chargeRequest{
		Amount: amount{value, string(ch.Money.Currency)}, Capture: ch.Capture == payment.CaptureAutomatic,
		Customer: ch.Customer.Reference, IP: ch.Customer.IP, Receipt: on,
		// The webhook reader uses the metadata.
		Metadata:    map[string]string{"payment_attempt_id": ch.Attempt.String(), "order_id": string(ch.Order)},
		Description: ch.ProviderData["description"], Airline: ch.ProviderData["airline"], Statements: ch.ProviderData["statements"],
	}
	r.pay(ch.Details)
	if r.PaymentMethodID == "" {
		r.Confirmation, r.Save = confirmationOf(ch.Details), ch.Save
	}
	return r, err
}

// pay sets the payment method by the form of the token. It is a method that the customer completes at YooKassa, or no
// method, so that the customer chooses one there. It may also be a saved method, which needs no confirmation, or a
// single-use token (https://yookassa.ru/developers/payment-acceptance/getting-started/selecting-integration-scenario).
func (r *chargeRequest) pay(d gateway.Details) {
	switch {
	case ways[d.Token] || codes[d.Token]:
		r.PaymentMethodData = methodOf(d)
	case isID(d.Token):
		r.PaymentMethodID = d.Token
	default:
		r.PaymentToken = d.Token
	}
}

// mobile pays from the balance of a telephone number. sber is confirmed by a message to a telephone number. cash is paid
// with a code.
const mobile, sber, cash = "mobile_balance", "sberbank", "cash"

// codes are the methods that a customer completes at YooKassa
// (https://yookassa.ru/developers/payment-acceptance/getting-started/payment-methods).
var codes = map[string]bool{ //nolint:gochecknoglobals // a table
	"bank_card": true, cash: true, sber: true, "tinkoff_bank": true, "yoo_money": true, mobile: true, "sbp": true, "sber_loan": true,
	"sber_bnpl": true, "alfa_pay": true,
}

// code returns the method that the charge names, in its token or in its method type. It is empty if the customer chooses
// the method.
func code(d gateway.Details) string {
	switch {
	case codes[d.Token]:
		return d.Token
	case ways[d.Token]:
		return d.MethodType
	}
	return ""
}

// methodOf returns the method, with the customer's telephone number if the method needs it. It returns nil if the
// customer chooses the method.
func methodOf(d gateway.Details) *methodData {
	m := &methodData{Type: code(d)}
	switch {
	case m.Type == "":
		return nil
	case m.Type == cash || byPhone(d):
		m.Phone = digits(d.Customer.Phone)
	}
	return m
}

// byPhone reports whether the payment requires the customer's telephone number.
func byPhone(d gateway.Details) bool {
	return code(d) == mobile || code(d) == sber && confirms(d) == typeExternal
}

// digits returns a telephone number without the plus sign, as YooKassa expects it.
func digits(phone string) string { return strings.TrimPrefix(phone, "+") }

// idLength is the length of YooKassa's ids, which look like UUIDs.
const idLength = 36
