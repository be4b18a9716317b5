// Package cloudpayments speaks with CloudPayments (https://developers.cloudpayments.ru/#api):
// a payment is a transaction by the token of a saved card, or an order that the
// customer pays on CloudPayments' page, in as many transactions as it takes.
//
// A card's cryptogram can't be charged: that needs the customer's address, which
// nobody tells an adapter. Receipts of the Russian law 54-FZ are not sent.
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

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// Client is one site at CloudPayments. It implements payment.Provider.
type Client struct {
	base, id, secret string
	http             *http.Client
}

const address = "https://api.cloudpayments.ru"

// New returns the client of the site with this public id and API secret; base
// replaces CloudPayments' own address.
func New(base, publicID, secret string, client *http.Client) *Client {
	return &Client{base: strings.TrimRight(cmp.Or(base, address), "/"), id: publicID, secret: secret, http: client}
}

// keyLife is CloudPayments' less ten minutes: a result "is kept for 1 hour"
// (https://developers.cloudpayments.ru/#idempotentnost-api).
const keyLife = 50 * time.Minute

// Capabilities implements payment.Provider: https://developers.cloudpayments.ru/#api,
// "Подтверждение оплаты" (once, all or a part), "Отмена оплаты", "Возврат денег"
// (any number of parts), "Проверка статуса платежа" (the last transaction by our
// reference, meant for lost answers; that it trails is not said). A refund can be
// asked for by its number, and without it only if it was the last thing done.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife, Find: true, FindConsistent: true, Transactions: true,
		Capture: true, PartialCapture: true, Cancel: true, Refund: true, PartialRefund: true,
	}
}

// answer is what every method says. Model is nil where there is none: then a
// failure means that the request was wrong.
type answer struct {
	Success   bool            `json:"Success"`
	Message   string          `json:"Message"`
	ErrorCode any             `json:"ErrorCode"`
	Model     json.RawMessage `json:"Model"`
}

// code is what a refusal has beside its words, which most have not.
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

// command sends what may move money. The licence is spent when its first byte
// goes out.
func (c *Client) command(ctx context.Context, path, key string, l payment.Licence, body any) (answer, error) {
	return c.post(ctx, path, body, call.Request{Licence: &l, Header: http.Header{"X-Request-ID": {key}}})
}

func (c *Client) question(ctx context.Context, path string, body any) (answer, error) {
	return c.post(ctx, path, body, call.Request{Question: true, Header: http.Header{}})
}

// post returns an answer that is CloudPayments'. A refused request comes with 200;
// 401 is the only other code that speaks of the request and not of the moment.
func (c *Client) post(ctx context.Context, path string, body any, r call.Request) (answer, error) {
	as := http.Request{Header: r.Header}
	as.SetBasicAuth(c.id, c.secret)
	r.Method, r.URL = http.MethodPost, c.base+path
	got, err := call.DoJSON(ctx, c.http, r, body)
	switch {
	case err != nil:
		return answer{}, err
	case got.Status == http.StatusUnauthorized:
		return answer{ErrorCode: "401"}, nil
	case got.Status != http.StatusOK:
		return answer{}, fmt.Errorf("not an answer of CloudPayments': %d", got.Status)
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

// missing reports whether CloudPayments says that it has no such transaction.
func (a answer) missing() bool { return !a.Success && a.Model == nil && a.Message == "Not found" }

// said is a refusal as an error. Its words are left out: they are for people.
func (a answer) said() error { return fmt.Errorf("CloudPayments refuses to tell %s", a.code()) }
