// Package tbank calls T-Bank's acquiring API, formerly Tinkoff. See https://www.tbank.ru/kassa/dev/payments/. Init
// begins a payment. The customer then pays it on the bank's page or by a link to an app of a bank, or Charge pays it
// with a saved card.
//
// Only the refund of a card is idempotent. So no other command is sent twice, and a call without an answer is looked up
// by our reference. No payment has a second step, because the bank's page performs 3-D Secure.
package tbank

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/tbank"
)

// Client is one terminal at T-Bank. It implements gateway.Provider.
type Client struct {
	kit.OneStep

	// Taxation is the shop's tax system. Receipts can't be sent without it
	// (https://www.tbank.ru/kassa/dev/payments/#tag/Standartnyj-platezh, "Receipt").
	Taxation string

	base, terminal string
	currency       payment.Currency
	signer         *hooks.Verifier
	http           *http.Client
}

// address is the API's address. The path contains the version.
const address = "https://securepay.tinkoff.ru"

// New returns the client of a terminal, given its key and password. The base replaces the bank's own address. The
// currency is the terminal's currency, RUB if empty, because requests and responses contain no currency. New returns
// webhooks.ErrConfig if the password is empty.
func New(base, terminal, password, currency string, client *http.Client) (*Client, error) {
	// Requests have the same Token as notifications.
	signer, err := hooks.New(webhooks.Config{Secrets: []string{password}})
	if err != nil {
		return nil, err
	}
	return &Client{
		base: strings.TrimRight(cmp.Or(base, address), "/"), terminal: terminal,
		currency: payment.Currency(cmp.Or(currency, "RUB")), signer: signer, http: client,
	}, nil
}

// Capabilities implements gateway.Provider. https://www.tbank.ru/kassa/dev/payments/ describes "Init" and "Charge" (no
// idempotency key), "CheckOrder" (payments by our reference; no documented lag, unlike a search index), "Confirm" (once,
// all or a part), and "Cancel" (holds, and any number of partial refunds). No call finds a refund by a name. The
// payment's own state shows whether there was no refund.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		Lookup: payment.LookupConsistent, Identity: payment.IdentityByBrowser,
		Captures: payment.CapturesOnce, CapturesSeen: true, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts, RefundsConsistent: true,
	}
}

// request has the parameters of all methods.
type request struct {
	TerminalKey       string `json:"TerminalKey"`
	OrderID           string `json:"OrderId,omitempty"`
	PaymentID         string `json:"PaymentId,omitempty"`
	RebillID          string `json:"RebillId,omitempty"`
	CustomerKey       string `json:"CustomerKey,omitempty"`
	Recurrent         string `json:"Recurrent,omitempty"`
	Amount            int64  `json:"Amount,omitempty"`
	PayType           string `json:"PayType,omitempty"`
	Language          string `json:"Language,omitempty"`
	IP                string `json:"IP,omitempty"`
	SuccessURL        string `json:"SuccessURL,omitempty"`
	FailURL           string `json:"FailURL,omitempty"`
	ExternalRequestID string `json:"ExternalRequestId,omitempty"`
	// Description and Descriptor are the bank's own members (provider_data). The customer reads the Description on the
	// page.
	Description json.RawMessage `json:"Description,omitempty"`
	Descriptor  json.RawMessage `json:"Descriptor,omitempty"`
	// RedirectDueDate (provider_data) is when the bank's page, or the QR code of the SBP, expires.
	RedirectDueDate json.RawMessage `json:"RedirectDueDate,omitempty"`
	// Objects are not signed.
	Data    *additional `json:"DATA,omitempty"`
	Receipt *receipt    `json:"Receipt,omitempty"`
}

// additional is the further data of a payment.
type additional struct {
	Email     string `json:"Email,omitempty"`
	Phone     string `json:"Phone,omitempty"`
	Initiator string `json:"OperationInitiatorType"`
	// TinkoffPayWeb and SberPayWeb are "true" if the shop has its own button for T-Pay or SberPay.
	TinkoffPayWeb string `json:"TinkoffPayWeb,omitempty"`
	SberPayWeb    string `json:"SberPayWeb,omitempty"`
	Device        string `json:"Device,omitempty"`
}

// answer has the response fields of all methods.
type answer struct {
	Success           bool   `json:"Success"`
	ErrorCode         text   `json:"ErrorCode"`
	Status            string `json:"Status"`
	TerminalKey       string `json:"TerminalKey"`
	PaymentID         text   `json:"PaymentId"`
	Amount            *int64 `json:"Amount"`
	OriginalAmount    *int64 `json:"OriginalAmount"`
	NewAmount         *int64 `json:"NewAmount"`
	PaymentURL        string `json:"PaymentURL"`
	ExternalRequestID string `json:"ExternalRequestId"`
	Payments          []struct {
		PaymentID text   `json:"PaymentId"`
		Status    string `json:"Status"`
	} `json:"Payments"`
}

// text is a member that is a string in one response and a number in another. Ids have more digits than a float64 can
// hold.
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*t = text(s)
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(raw, &n); err != nil {
		return fmt.Errorf("neither a text nor a number: %w", err)
	}
	*t = text(n)
	return nil
}

var errNameless = errors.New("the answer names no payment")

// command sends a command. The permit is used up when the first byte is sent.
func (c *Client) command(ctx context.Context, method string, r request, l gateway.Permit) (answer, error) {
	return c.post(ctx, method, r, kit.Request{Permit: &l})
}

func (c *Client) question(ctx context.Context, method string, r request) (answer, error) {
	return c.post(ctx, method, r, questioning())
}

func questioning() kit.Request { return kit.Request{Question: true} }

// post returns a response of the bank: a success, or an error with a code. Both have HTTP status 200.
func (c *Client) post(ctx context.Context, method string, r request, as kit.Request) (answer, error) {
	got, err := c.answered(ctx, method, r, as)
	if err != nil {
		return answer{}, err
	}
	return read(got)
}

func read(got kit.Answer) (answer, error) {
	var a answer
	if err := got.Read(&a); err != nil {
		return answer{}, err
	}
	if a.ErrorCode == "" || a.Success != (a.ErrorCode == "0") {
		return answer{}, errNameless
	}
	return a, nil
}

// answered signs a request and returns a response with status 200.
func (c *Client) answered(ctx context.Context, method string, r request, as kit.Request) (kit.Answer, error) {
	r.TerminalKey = c.terminal
	return c.signed(ctx, method, r, as)
}

func (c *Client) signed(ctx context.Context, method string, r any, as kit.Request) (kit.Answer, error) {
	raw, err := kit.JSON(r)
	if err != nil {
		return kit.Answer{}, err
	}
	signed := webhooks.Delivery{Body: raw}
	if err := c.signer.Sign(&signed); err != nil {
		return kit.Answer{}, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, err)
	}
	if as.Body, err = kit.JSON(json.RawMessage(signed.Body)); err != nil {
		return kit.Answer{}, err
	}
	as.Header = http.Header{"Content-Type": {"application/json"}}
	return c.do(ctx, http.MethodPost, method, as)
}

func (c *Client) do(ctx context.Context, verb, method string, as kit.Request) (kit.Answer, error) {
	as.Method, as.URL = verb, c.base+"/v2/"+method
	got, err := kit.Do(ctx, c.http, as)
	if err == nil && got.Status != http.StatusOK {
		err = fmt.Errorf("unexpected response of T-Bank with status %d", got.Status)
	}
	return got, err
}

// said returns the error. It omits the bank's text, which is for display.
func (a answer) said() error { return fmt.Errorf("T-Bank responded with error %s", a.ErrorCode) }

// definitive reports whether the error refuses this request. It uses the numbers in
// https://www.tbank.ru/kassa/dev/payments/ "Коды ошибок": states and rights, fields, limits of the shop, refunds. Any
// other error may be a failure of the bank.
func (a answer) definitive() bool {
	code, err := strconv.Atoi(string(a.ErrorCode))
	switch {
	case err != nil:
		return false
	case code >= 201 && code <= 399:
		// 311 to 314 are failures of the receipt service.
		return code < 311 || code > 314
	case code >= 600 && code <= 699:
		return true
	}
	switch code {
	case 1, 2, 4, 7, 8, 9, 10, 11, 12, 20, 76, 77, 79, 104, 105, 107, 191, 500, 501, 503, 1126, 3001, 3002, 3019, 3029, 3030:
		return true
	}
	return false
}

// missing reports whether the bank has no such payment or order.
func (a answer) missing() bool { return a.ErrorCode == "255" || a.ErrorCode == "335" }
