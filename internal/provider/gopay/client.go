// Package gopay calls GoPay's REST API (https://doc.gopay.com): a payment is created and then paid by its
// customer on GoPay's page, or, with a saved card, created as a recurrence of the payment that saved it.
//
// Nothing is idempotent, and no payment is found by our reference: so no charge and no refund is sent twice. A payment
// whose answer was lost is named by GoPay's notice of it, which bears our mark once it is looked up. A capture or a void
// that comes again is refused: each is for a payment that is pre-authorised.
package gopay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
	"github.com/paylatch/paylatch/internal/provider/httpjson"
)

// Client is one shop at GoPay. It implements gateway.Provider.
type Client struct {
	call.OneStep

	// Notify is the address that GoPay notifies of each payment; without it only a lookup shows its state.
	Notify string

	goid   string
	api    *httpjson.API[*refusal]
	tokens *call.Tokens
}

const (
	address = "https://gate.gopay.cz"
	// scope is that of a token for all calls (of the two that there are, the other only creates payments).
	scope = "payment-all"
)

// New returns the client of the shop with this GoID; base replaces GoPay's own address, with
// or without the /api at its end, and now is the clock for the expiry of access tokens.
func New(base, id, secret, goid string, client *http.Client, now func() time.Time) *Client {
	base = strings.TrimSuffix(strings.TrimRight(cmp.Or(base, address), "/"), "/api") + "/api"
	c := &Client{goid: goid, tokens: call.NewTokens(base+"/oauth2/token", id, secret, scope, client, now)}
	c.api = &httpjson.API[*refusal]{
		Name: "GoPay", Base: base, HTTP: client, Read: readRefusal, Send: c.send,
		Header: func() http.Header { return http.Header{"Accept": {"application/json"}} },
	}
	return c
}

// Capabilities implements gateway.Provider (https://doc.gopay.com: pre-authorised payments are captured, all
// or a part, and voided; payments are refunded in any number of parts). What captures, voids and refunds is
// accepted first and may be carried out later. A payment that waits for its customer can't be cancelled: it
// times out. Refunds are listed by their payment, and bear no mark of ours.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		ShowsRefunds: true,
		Capture:      true, PartialCapture: true, CaptureUnseen: true, Cancel: true, Refund: true, PartialRefund: true, LookupRefund: true,
	}
}

// send adds the access token. A request with a rejected token is sent again with a new one, once: a command
// only if the rejection is GoPay's own, since that of somebody in between is no evidence about the request.
func (c *Client) send(ctx context.Context, r call.Request, body any) (call.Answer, error) {
	for again := false; ; again = true {
		token, err := c.tokens.Token(ctx)
		switch {
		case err != nil && r.Permit != nil:
			return call.Answer{}, fmt.Errorf("%w: %w", gateway.ErrNotSent, err)
		case err != nil:
			return call.Answer{}, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		a, err := call.DoJSON(ctx, c.api.HTTP, r, body)
		if err != nil || a.Status != http.StatusUnauthorized || again {
			return a, err
		}
		if refused, _ := readRefusal(a); refused == nil && r.Method != http.MethodGet {
			return a, nil
		}
		c.tokens.Drop(token)
	}
}

// result is the response to what is done with a payment.
type result struct {
	ID     json.Number `json:"id"`
	Result string      `json:"result"`
}

// Results of a command.
const (
	resultAccepted = "ACCEPTED"
	resultFinished = "FINISHED"
	resultFailed   = "FAILED"
)

// command does something with a payment: with a form, or a JSON body if there is one. It returns GoPay's
// refusal, or nil.
func (c *Client) command(ctx context.Context, id, verb string, form url.Values, body any, l gateway.Permit) (*refusal, error) {
	r := call.Request{Method: http.MethodPost, URL: paymentPath(id) + "/" + verb, Permit: &l, Header: http.Header{}}
	if body == nil {
		r.Body = []byte(form.Encode())
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	var done result
	refused, err := c.api.Do(ctx, r, body, &done)
	switch {
	case refused != nil || err != nil:
		return refused, err
	case done.Result == resultFailed:
		return &refusal{status: http.StatusOK, name: resultFailed}, nil
	case done.Result != resultAccepted && done.Result != resultFinished:
		return nil, errNameless
	}
	return nil, nil //nolint:nilnil // no refusal is no error
}

func paymentPath(id string) string { return "/payments/payment/" + url.PathEscape(id) }

var errNameless = errors.New("the answer names no object")
