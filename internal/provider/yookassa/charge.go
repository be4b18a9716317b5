package yookassa

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
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
	// Description, which the customer reads on the page, Airline and Statements are YooKassa's own
	// (provider_data).
	Description json.RawMessage `json:"description,omitempty"`
	Airline     json.RawMessage `json:"airline,omitempty"`
	Statements  json.RawMessage `json:"statements,omitempty"`
}

type methodData struct {
	Type  string `json:"type"`
	Phone string `json:"phone,omitempty"`
}

// Charge implements gateway.Provider. A declined payment is cancelled at YooKassa for
// good.
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
	return gateway.Outcome{News: fsm.NewsFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.Code)}, nil
}

func (c *Client) requestOf(ch gateway.Charge) (chargeRequest, error) {
	value, err := call.Decimal(ch.Money)
	if err != nil {
		return chargeRequest{}, err
	}
	on, err := c.receiptOf(gateway.ReceiptOf(ch.Details), ch.Money.Currency)
	r := chargeRequest{
		Amount: amount{value, string(ch.Money.Currency)}, Capture: ch.Capture == payment.CaptureAutomatic,
		Customer: ch.Customer.Reference, IP: ch.Customer.IP, Receipt: on,
		// Read by the webhooks' adapter.
		Metadata:    map[string]string{"payment_attempt_id": ch.Attempt.String(), "order_id": string(ch.Order)},
		Description: ch.ProviderData["description"], Airline: ch.ProviderData["airline"], Statements: ch.ProviderData["statements"],
	}
	r.pay(ch.Details)
	if r.PaymentMethodID == "" {
		r.Confirmation, r.Save = confirmationOf(ch.Details), ch.Save
	}
	return r, err
}

// pay sets the method, by the form of the token: one that the customer completes at YooKassa, or none,
// so that it is chosen there; a saved method, which needs no confirmation; or else a single-use token
// (https://yookassa.ru/developers/payment-acceptance/getting-started/selecting-integration-scenario).
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

// mobile is paid from the balance of a telephone number, sber confirmed by a message to one.
const mobile, sber = "mobile_balance", "sberbank"

// codes are the methods that a customer completes at YooKassa
// (https://yookassa.ru/developers/payment-acceptance/getting-started/payment-methods).
var codes = map[string]bool{ //nolint:gochecknoglobals // a table
	"bank_card": true, "cash": true, sber: true, "tinkoff_bank": true, "yoo_money": true, mobile: true, "sbp": true, "sber_loan": true,
	"sber_bnpl": true, "alfa_pay": true,
}

// code is the method that a pay names, by its token or beside one for the way to confirm; empty if
// it leaves the choice to the customer.
func code(d gateway.Details) string {
	switch {
	case codes[d.Token]:
		return d.Token
	case ways[d.Token]:
		return d.MethodType
	}
	return ""
}

// methodOf is a method with the customer's telephone number where it goes by that; nil for a choice.
func methodOf(d gateway.Details) *methodData {
	m := &methodData{Type: code(d)}
	switch {
	case m.Type == "":
		return nil
	case m.Type == "cash" || byPhone(d):
		m.Phone = digits(d.Customer.Phone)
	}
	return m
}

// byPhone reports whether the payment can't be made without the customer's telephone number.
func byPhone(d gateway.Details) bool {
	return code(d) == mobile || code(d) == sber && confirms(d) == typeExternal
}

// digits is a telephone number without the plus, as YooKassa has it.
func digits(phone string) string { return strings.TrimPrefix(phone, "+") }

// idLength is the length of YooKassa's ids, which look like UUIDs.
const idLength = 36
