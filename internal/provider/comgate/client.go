// Package comgate calls Comgate by protocol 1.0 (https://apidoc.comgate.cz, "API metody platby (1.0)"): a payment is
// begun in the background and paid by its customer on Comgate's page, or charged by a payment that was marked for
// recurrence. The facts of that page are cited by the types that public clients made of it: comgate-node (src/types/endpoints
// of github.com/sebelapetr/comgate-node) and github.com/asitanc/comgate-payment-types.
//
// Nothing is idempotent, a refId may be used any number of times (comgate-node, create.ts), and no method finds a payment
// by it. So no charge and no refund is sent twice. A charge without an answer is named by its notification, which has
// the refId; until then, and if none comes, it stays open: Comgate mails the payer of each payment a link to its page
// (https://help.comgate.cz/docs/en/frequently-asked-questions). A capture or cancel that comes again changes nothing:
// each is for one state of a payment, which is looked up.
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
	"github.com/paylatch/paylatch/internal/provider/call"
)

// Client is one shop at Comgate. It implements gateway.Provider.
type Client struct {
	call.OneStep

	// Test is set if payments are begun, and refunded, as test payments: Comgate has no other address for tests.
	Test bool
	// Now is the clock after which no books are read; nil: also days that have not begun are.
	Now func() time.Time

	base, merchant, secret string
	http                   *http.Client
}

const address = "https://payments.comgate.cz"

// New returns the client of the shop with this number and secret; base replaces Comgate's own
// address.
func New(base, merchant, secret string, client *http.Client) *Client {
	return &Client{base: strings.TrimRight(cmp.Or(base, address), "/"), merchant: merchant, secret: secret, http: client}
}

// Capabilities implements gateway.Provider. There is no search, and no lookup states of a payment that it was refunded. A hold
// may be captured in part (comgate-node, capturePreauth.ts), but what price its payment then has is not documented: only all
// of it is captured. When an accepted capture shows is not documented either.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{Capture: true, CaptureUnseen: true, Cancel: true, Refund: true, PartialRefund: true}
}

const (
	codeOK = "0"
	// codeWrong is the answer to any wrong request: one from an address that Comgate does not allow
	// (https://help.comgate.cz/docs/chybove-hlasky, "Access from unauthorized location"), one with another secret
	// (comgate-payments/sdk-php, tests/Unit/Entity/Response/MethodsResponseCest.php, "Unauthorized access!"), and one about a
	// payment that there is not.
	codeWrong = "1400"
)

var errNameless = errors.New("the answer names no payment")

// answer is the form that a method returns, of which code is 0 for a success.
type answer url.Values

func (a answer) get(name string) string { return url.Values(a).Get(name) }

func (a answer) ok() bool { return a.get("code") == codeOK }

// refuses reports whether an answer is a definitive no. Errors of Comgate's own (1100 unknown, 1104 unable to load the
// payment, 1200 database, 1399 unexpected result, 1500 unexpected) leave open what was done.
func (a answer) refuses() bool {
	code := a.get("code")
	open := slices.Contains([]string{"1100", "1104", "1399"}, code)
	return len(code) == len("1400") && !open && (strings.HasPrefix(code, "11") || strings.HasPrefix(code, "13") || strings.HasPrefix(code, "14"))
}

// missing reports whether there is no such payment. Only the message sets that apart from what else is wrong with a
// request; these words of it are from memory. Any other message states nothing of the payment.
func (a answer) missing() bool {
	return a.get("code") == codeWrong && strings.Contains(strings.ToLower(a.get("message")), "not found")
}

var errWrong = errors.New("comgate says 1400: see that it allows the address of this service, and that the secret is the shop's")

// failure is the error that an answer is where it is no outcome. Neither its message nor the secret is in it.
func (a answer) failure() error {
	if a.get("code") == codeWrong {
		return errWrong
	}
	return fmt.Errorf("comgate says %.8s", a.get("code"))
}

// command sends what may move money. The permit is spent when its first byte goes out.
func (c *Client) command(ctx context.Context, method string, form url.Values, l gateway.Permit) (answer, error) {
	return c.post(ctx, method, form, call.Request{Permit: &l})
}

// post calls a method. The answer is a form; a success has the status 200, an error that or one below 500. It may have the
// shop's secret in it, so that no error quotes it.
func (c *Client) post(ctx context.Context, method string, form url.Values, r call.Request) (answer, error) {
	a, err := c.send(ctx, method, form, r)
	if err != nil {
		return nil, err
	}
	said, err := url.ParseQuery(strings.TrimSpace(string(a.Body)))
	refusal := a.Status >= http.StatusBadRequest && a.Status < http.StatusInternalServerError && said.Get("code") != codeOK
	if err != nil || said.Get("code") == "" || a.Status != http.StatusOK && !refusal {
		return nil, fmt.Errorf("somebody answers %d for Comgate", a.Status)
	}
	return answer(said), nil
}

// send sends the form of a method, with the shop's number and secret.
func (c *Client) send(ctx context.Context, method string, form url.Values, r call.Request) (call.Answer, error) {
	form.Set("merchant", c.merchant)
	form.Set("secret", c.secret)
	r.Method, r.URL, r.Body = http.MethodPost, c.base+"/v1.0/"+method, []byte(form.Encode())
	r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	return call.Do(ctx, c.http, r)
}

// status reads how a payment stands. The first read of a command has the command's permit.
func (c *Client) status(ctx context.Context, id string, l *gateway.Permit) (answer, error) {
	a, err := c.post(ctx, "status", url.Values{"transId": {id}}, call.Request{Permit: l, Question: l == nil})
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
