// Package comgate calls Comgate by protocol 1.0 (https://apidoc.comgate.cz, "API metody platby (1.0)"). A payment begins
// with a server call and its customer pays it on Comgate's page, or it charges an earlier payment that was marked for
// recurrence. The package cites the facts of that page by the types in public clients: comgate-node (src/types/endpoints
// of github.com/sebelapetr/comgate-node) and github.com/asitanc/comgate-payment-types.
//
// Comgate has no idempotency: a refId may be used any number of times (comgate-node, create.ts), and no method finds a
// payment by it. So no charge and no refund is sent twice. The notification of a charge has the refId, and identifies a
// charge without an answer. Until it arrives or the page expires, the outcome is unknown: Comgate mails each payer a link
// to the page (https://help.comgate.cz/docs/en/frequently-asked-questions). A repeated capture or cancel changes nothing. Each
// applies to one state of a payment, and the adapter looks the state up.
package comgate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Client is one shop at Comgate. It implements gateway.Provider.
type Client struct {
	kit.OneStep

	// Test is set if payments and refunds are marked as tests. Comgate has no other address for tests.
	Test bool
	// Now is the clock that ends the reading of books. If it is nil, days in the future are read too.
	Now func() time.Time
	// AwaitsCustomer is how long a page waits for its payer; 0 for the time that the portal sets.
	AwaitsCustomer time.Duration

	base, merchant, secret string
	http                   *http.Client
}

const address = "https://payments.comgate.cz"

// New returns the client of the shop with this number and secret. The base replaces Comgate's own address.
func New(base, merchant, secret string, client *http.Client) *Client {
	return &Client{base: strings.TrimRight(cmp.Or(base, address), "/"), merchant: merchant, secret: secret, http: client}
}

// Capabilities implements gateway.Provider. Comgate has no search, and no lookup shows refunds. Comgate can capture a
// part of a hold (comgate-node, capturePreauth.ts), but does not document the payment's price afterwards. So the adapter
// captures only the whole amount. Comgate does not document either when an accepted capture shows.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		Lookup: payment.LookupByID, Identity: payment.IdentityOwn,
		Captures: payment.CapturesWhole, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts,
	}
}

const (
	codeOK = "0"
	// codeWrong is the answer to any wrong request: a request from a forbidden address
	// (https://help.comgate.cz/docs/chybove-hlasky, "Access from unauthorized location"), with a wrong secret
	// (comgate-payments/sdk-php, tests/Unit/Entity/Response/MethodsResponseCest.php, "Unauthorized access!"), or about a
	// payment that does not exist.
	codeWrong = "1400"
)

var errNameless = errors.New("the answer names no payment")

// answer is the form that a method returns. Its code is 0 for a success.
type answer url.Values

func (a answer) get(name string) string { return url.Values(a).Get(name) }

func (a answer) ok() bool { return a.get("code") == codeOK }

// refuses reports whether an answer is a definitive refusal. Comgate's internal errors (1100 unknown, 1104 unable to
// load the payment, 1200 database, 1399 unexpected result, 1500 unexpected) leave the outcome unknown.
func (a answer) refuses() bool {
	code := a.get("code")
	open := slices.Contains([]string{"1100", "1104", "1399"}, code)
	return len(code) == len("1400") && !open && (strings.HasPrefix(code, "11") || strings.HasPrefix(code, "13") || strings.HasPrefix(code, "14"))
}

// missing reports whether the payment does not exist. Only the message distinguishes this from other wrong requests; its
// words are quoted from memory. Any other message is no statement about the payment.
func (a answer) missing() bool {
	return a.get("code") == codeWrong && strings.Contains(strings.ToLower(a.get("message")), "not found")
}

var errWrong = errors.New("comgate responded with 1400: check that Comgate allows the address of this service, and that the secret is the shop's")

// failure returns the error for an answer that is not an outcome. It contains neither the message nor the secret.
func (a answer) failure() error {
	if a.get("code") == codeWrong {
		return errWrong
	}
	return fmt.Errorf("comgate responded with %.8s", a.get("code"))
}

// command sends a command. The permit is used up when the first byte is sent.
func (c *Client) command(ctx context.Context, method string, form url.Values, l gateway.Permit) (answer, error) {
	return c.post(ctx, method, form, kit.Request{Permit: &l})
}

// post calls a method. The answer is a form. A success has status 200; an error has status 200 or a status from 400 to
// 499. The answer may contain the shop's secret, so no error quotes it.
func (c *Client) post(ctx context.Context, method string, form url.Values, r kit.Request) (answer, error) {
	a, err := c.send(ctx, method, form, r)
	if err != nil {
		return nil, err
	}
	said, err := url.ParseQuery(strings.TrimSpace(string(a.Body)))
	refusal := a.Status >= http.StatusBadRequest && a.Status < http.StatusInternalServerError && said.Get("code") != codeOK
	if err != nil || said.Get("code") == "" || a.Status != http.StatusOK && !refusal {
		return nil, fmt.Errorf("the response with status %d is not in Comgate's format", a.Status)
	}
	return answer(said), nil
}

// send sends the form of a method with the shop's number and secret.
func (c *Client) send(ctx context.Context, method string, form url.Values, r kit.Request) (kit.Answer, error) {
	form.Set("merchant", c.merchant)
	form.Set("secret", c.secret)
	r.Method, r.URL, r.Body = http.MethodPost, c.base+"/v1.0/"+method, []byte(form.Encode())
	r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	return kit.Do(ctx, c.http, r)
}

// status looks up a payment. The first read of a command carries the command's permit.
func (c *Client) status(ctx context.Context, id string, l *gateway.Permit) (answer, error) {
	a, err := c.post(ctx, "status", url.Values{"transId": {id}}, kit.Request{Permit: l, Question: l == nil})
	switch {
	case err != nil:
		return nil, err
	case a.missing():
		return nil, gateway.ErrNoSuchPayment
	case !a.ok():
		return nil, a.failure()
	case a.get("transId") != id, a.get("merchant") != "" && a.get("merchant") != c.merchant:
		return nil, errNameless
	}
	return a, nil
}
