// Package cloudpayments calls CloudPayments' API (https://developers.cloudpayments.ru/#api). A payment is a transaction.
// It charges the token of a saved card, or the cryptogram of a new card, which may have a second step. Or the customer
// makes it on CloudPayments' page. The page is an order, the container of any number of transactions. Each transaction
// takes money by itself, so each transaction is a payment.
package cloudpayments

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Client is one site at CloudPayments. It implements gateway.Provider.
type Client struct {
	// Taxation is the shop's tax system in receipts; nil: no tax system
	// (https://developers.cloudkassir.ru/#sistemy-nalogooblozheniya).
	Taxation *int

	base, id, secret string
	http             *http.Client
}

const address = "https://api.cloudpayments.ru"

// New returns the client of the site with this public id and API secret. The base replaces CloudPayments' own address.
func New(base, publicID, secret string, client *http.Client) *Client {
	return &Client{base: strings.TrimRight(cmp.Or(base, address), "/"), id: publicID, secret: secret, http: client}
}

// keyLife is CloudPayments' key life minus ten minutes: a result "is kept for 1 hour"
// (https://developers.cloudpayments.ru/#idempotentnost-api).
const keyLife = 50 * time.Minute

// Capabilities implements gateway.Provider. https://developers.cloudpayments.ru/#api describes "Подтверждение оплаты"
// (once, all or a part), "Отмена оплаты", "Возврат денег" (any number of parts) and "Проверка статуса платежа" (the last
// transaction with our reference, for lost responses; no lag is documented). A refund is looked up by its number.
// Without a number, it is found only as the last operation.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife, Lookup: payment.LookupConsistent, Identity: payment.IdentityByBrowser, Complete: true,
		Captures: payment.CapturesOnce, CapturesSeen: true, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts,
	}
}

// answer is the response of every method. If Model is nil, a failure means that the request was invalid.
type answer struct {
	Success   bool            `json:"Success"`
	Message   string          `json:"Message"`
	ErrorCode any             `json:"ErrorCode"`
	Model     json.RawMessage `json:"Model"`
}

// code returns the code of a refusal. Most refusals have none.
func (a answer) code() string {
	if a.ErrorCode == nil {
		return ""
	}
	return fmt.Sprint(a.ErrorCode)
}

var (
	errNameless = errors.New("the answer names nothing")
	errNoID     = errors.New("not an id of CloudPayments'")
)

// command sends a command. The permit is used up when the first byte is sent.
func (c *Client) command(ctx context.Context, path, key string, l gateway.Permit, body any) (answer, error) {
	return c.post(ctx, path, body, kit.Request{Permit: &l, Header: http.Header{"X-Request-ID": {key}}})
}

func (c *Client) question(ctx context.Context, path string, body any) (answer, error) {
	return c.post(ctx, path, body, kit.Request{Question: true, Header: http.Header{}})
}

// post returns a response of CloudPayments. A refused request has status 200; 401 is the only other definitive status.
func (c *Client) post(ctx context.Context, path string, body any, r kit.Request) (answer, error) {
	as := http.Request{Header: r.Header}
	as.SetBasicAuth(c.id, c.secret)
	r.Method, r.URL = http.MethodPost, c.base+path
	got, err := kit.DoJSON(ctx, c.http, r, body)
	switch {
	case err != nil:
		return answer{}, err
	case got.Status == http.StatusUnauthorized:
		return answer{ErrorCode: "401"}, nil
	case got.Status != http.StatusOK:
		return answer{}, fmt.Errorf("unexpected response of CloudPayments with status %d", got.Status)
	}
	var a answer
	if err := got.Read(&a); err != nil {
		return answer{}, err
	}
	if bytes.Equal(a.Model, []byte("null")) {
		a.Model = nil
	}
	if !a.Success && a.Model == nil && a.Message == "" {
		return answer{}, errNameless
	}
	return a, nil
}

// missing reports whether CloudPayments has no such transaction.
func (a answer) missing() bool { return !a.Success && a.Model == nil && a.Message == "Not found" }

// said returns the error. It omits the refusal's text, which is for display.
func (a answer) said() error { return fmt.Errorf("CloudPayments refused the request: %s", a.code()) }
