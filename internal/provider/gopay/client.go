// Package gopay calls GoPay's REST API (https://doc.gopay.com). A payment is created, and its customer pays it on
// GoPay's page. A payment with a saved card is created as a recurrence of the payment that saved it.
//
// GoPay has no idempotency and no search by our reference. So no charge and no refund is sent twice. If the answer to a
// charge is lost, the address of its page is lost, too. GoPay's notification names the payment of a saved card, and a lookup
// of it shows our mark. GoPay refuses a repeated capture or void, because both apply only to a pre-authorised payment.
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
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Client is one shop at GoPay. It implements gateway.Provider.
type Client struct {
	kit.OneStep

	// Notify is the address that GoPay notifies of each payment. Without it, only a lookup shows a payment's state.
	Notify string

	goid   string
	api    *kit.API[*refusal]
	tokens *kit.Tokens
}

const (
	address = "https://gate.gopay.cz"
	// scope is the scope of a token for all calls. GoPay's only other scope allows the creation of payments alone.
	scope = "payment-all"
)

// New returns the client of the shop with this GoID. The base replaces GoPay's own address, with or without the /api at
// its end. The clock now decides when access tokens expire.
func New(base, id, secret, goid string, client *http.Client, now func() time.Time) *Client {
	base = strings.TrimSuffix(strings.TrimRight(cmp.Or(base, address), "/"), "/api") + "/api"
	c := &Client{goid: goid, tokens: kit.NewTokens(base+"/oauth2/token", id, secret, scope, client, now)}
	c.api = &kit.API[*refusal]{
		Name: "GoPay", Base: base, HTTP: client, Read: readRefusal, Send: c.send,
		Header: func() http.Header { return http.Header{"Accept": {"application/json"}} },
	}
	return c
}

// Capabilities implements gateway.Provider. According to https://doc.gopay.com, pre-authorised payments can be captured
// (all or a part) and voided, and payments can have any number of partial refunds. GoPay accepts captures, voids and
// refunds first, and may carry them out later. A payment that waits for its customer can't be cancelled: it times out. A
// payment's refunds can be listed, but they have no mark of ours.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		Lookup: payment.LookupByID, Identity: payment.IdentityOwn,
		Captures: payment.CapturesOnce, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts, RefundLookup: payment.RefundLookupInPayment, Shows: payment.ShowsRefunds,
	}
}

// send adds the access token. A request with a rejected token is sent again once, with a new token. A command is sent
// again only if GoPay itself rejected the token, because a proxy's rejection is no evidence about the request.
func (c *Client) send(ctx context.Context, r kit.Request, body any) (kit.Answer, error) {
	for again := false; ; again = true {
		token, err := c.tokens.Token(ctx)
		switch {
		case err != nil && r.Permit != nil:
			return kit.Answer{}, fmt.Errorf("%w: %w", gateway.ErrNotSent, err)
		case err != nil:
			return kit.Answer{}, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		a, err := kit.DoJSON(ctx, c.api.HTTP, r, body)
		if err != nil || a.Status != http.StatusUnauthorized || again {
			return a, err
		}
		if refused, _ := readRefusal(a); refused == nil && r.Method != http.MethodGet {
			return a, nil
		}
		c.tokens.Drop(token)
	}
}

// result is the response to a command about a payment.
type result struct {
	ID     json.Number `json:"id"`
	Result string      `json:"result"`
}

// These are the results of a command.
const (
	resultAccepted = "ACCEPTED"
	resultFinished = "FINISHED"
	resultFailed   = "FAILED"
)

// command sends a command about a payment, with a form, or with a JSON body if there is one. It returns GoPay's refusal,
// or nil.
func (c *Client) command(ctx context.Context, id, verb string, form url.Values, body any, l gateway.Permit) (*refusal, error) {
	r := kit.Request{Method: http.MethodPost, URL: paymentPath(id) + "/" + verb, Permit: &l, Header: http.Header{}}
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
	return nil, nil //nolint:nilnil // the command was not refused
}

func paymentPath(id string) string { return "/payments/payment/" + url.PathEscape(id) }

var errNameless = errors.New("the answer names no object")
