package gocardless

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// page is the token of a payment that its customer authorises on GoCardless's page, with the default scheme of the
// currency. A scheme's name is a token for the page with this scheme.
const page = "redirect"

// schemes returns the schemes of payment requests (BillingRequestPaymentRequest.Scheme in GoCardless's .NET client).
func schemes() []string {
	return []string{"faster_payments", "sepa_credit_transfer", "sepa_instant_credit_transfer"}
}

// collection creates a payment by a mandate (https://developer.gocardless.com/api-reference/#payments-create-a-payment).
type collection struct {
	Amount      int64             `json:"amount"`
	Currency    string            `json:"currency"`
	Description string            `json:"description"`
	Metadata    map[string]string `json:"metadata"`
	Links       links             `json:"links"`
}

type links struct {
	Mandate        string `json:"mandate,omitempty"`
	Customer       string `json:"customer,omitempty"`
	BillingRequest string `json:"billing_request,omitempty"`
	Payment        string `json:"payment,omitempty"`
}

// Charge implements gateway.Provider. It charges a mandate without the customer; the payment is submitted to the bank
// later and confirmed after days. Without a mandate it creates a billing request and a page for it.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	kind := c.TokenKind(ch.Token)
	if err := ch.Fits(kind); err != nil {
		return gateway.Outcome{}, err
	}
	amount, err := digits.Units(ch.Money)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case ch.Capture == payment.CaptureManual:
		return gateway.Outcome{}, fmt.Errorf("%w: GoCardless holds no money", gateway.ErrUnsupportedRequest)
	case kind == gateway.TokenStored:
		return c.collect(ctx, ch, amount)
	}
	return c.request(ctx, ch, amount)
}

func (c *Client) collect(ctx context.Context, ch gateway.Charge, amount int64) (gateway.Outcome, error) {
	body, err := kit.Extend(collection{
		Amount: amount, Currency: string(ch.Money.Currency), Description: described(ch), Metadata: marks(ch), Links: links{Mandate: ch.Token},
	}, ch.ProviderData, mandateData())
	if err != nil {
		return gateway.Outcome{}, err
	}
	var made struct {
		Payment debit `json:"payments"`
	}
	refused, err := c.create(ctx, "payments", ch.IdempotencyKey, ch.Permit, body, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil:
		return refusedCharge(refused), nil
	case another(made.Payment.Metadata, ch):
		return gateway.Outcome{}, errOther
	}
	return outcome(made.Payment)
}

// errOther is returned if the key has created an object for another attempt.
var errOther = errors.New("the answer is about another attempt")

// another reports whether the metadata name another attempt.
func another(metadata map[string]string, ch gateway.Charge) bool {
	of := metadata[attemptName]
	return of != "" && of != ch.Attempt.String()
}

func refusedCharge(r *refusal) gateway.Outcome {
	return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", r.code())}
}

// described returns the text that GoCardless shows to the payer.
func described(ch gateway.Charge) string { return cmp.Or(ch.StatementDescriptor, string(ch.Order)) }

// marks returns the metadata that the webhook reader uses. GoCardless stores at most three keys. It copies those of a
// payment request to the payment (the adapter of payfanout).
func marks(ch gateway.Charge) map[string]string {
	return map[string]string{attemptName: ch.Attempt.String(), orderName: string(ch.Order)}
}

// asked creates a billing request
// (https://developer.gocardless.com/api-reference/#billing-requests-create-a-billing-request).
type asked struct {
	Payment  any               `json:"payment_request"`
	Mandate  *mandateAsked     `json:"mandate_request,omitempty"`
	Metadata map[string]string `json:"metadata"`
	Links    *links            `json:"links,omitempty"`
}

type paymentAsked struct {
	Amount      int64             `json:"amount"`
	Currency    string            `json:"currency"`
	Description string            `json:"description"`
	Scheme      string            `json:"scheme,omitempty"`
	Metadata    map[string]string `json:"metadata"`
}

type mandateAsked struct {
	Currency string            `json:"currency"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// request creates a billing request and a page for it. The billing request has one payment, which GoCardless executes
// when the request is fulfilled. Each page fulfils it at the end (links, fulfil and auto_fulfil of GoCardless's own
// clients). Two facts are from a public client that was run against the sandbox
// (packages/adapter-gocardless-server/src/adapter.ts of github.com/donapulse/payfanout). A billing request never has a
// second payment, however many pages it has, and a key does not deduplicate pages. Only with fallback_enabled can the
// customer pay by direct debit in the place of the bank, and the billing request stays the same
// (https://developer.gocardless.com/billing-requests/retain-customers-with-fallbacks). Without a page nothing can be
// paid, so a billing request whose page was refused must be cancelled.
func (c *Client) request(ctx context.Context, ch gateway.Charge, amount int64) (gateway.Outcome, error) {
	body, err := c.requestOf(ch, amount)
	if err != nil {
		return gateway.Outcome{}, err
	}
	var made struct {
		Request billing `json:"billing_requests"`
	}
	refused, err := c.create(ctx, "billing_requests", ch.IdempotencyKey, ch.Permit, body, &made)
	b := made.Request
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil:
		return refusedCharge(refused), nil
	case b.ID == "" || b.Status == "":
		return gateway.Outcome{}, errNameless
	case another(b.Metadata, ch):
		return gateway.Outcome{}, errOther
	}
	o, err := c.requested(ctx, b)
	if err != nil || o.Event != fsm.EventActionRequired {
		return o, err
	}
	return c.withPage(ctx, ch, o)
}

func (c *Client) requestOf(ch gateway.Charge, amount int64) (any, error) {
	ask := paymentAsked{Amount: amount, Currency: string(ch.Money.Currency), Description: described(ch), Metadata: marks(ch)}
	if ch.Token != page {
		ask.Scheme = ch.Token
	}
	pay, err := kit.Extend(ask, ch.ProviderData, payData())
	if err != nil {
		return nil, err
	}
	r := asked{Payment: pay, Metadata: marks(ch)}
	if ch.Save {
		r.Mandate = &mandateAsked{Currency: string(ch.Money.Currency), Metadata: map[string]string{customerName: ch.Customer.Reference}}
	}
	if customerForm.MatchString(ch.Customer.Reference) {
		r.Links = &links{Customer: ch.Customer.Reference}
	}
	return kit.Extend(r, ch.ProviderData, requestData())
}

// flow creates a page
// (https://developer.gocardless.com/api-reference/#billing-request-flows-create-a-billing-request-flow).
type flow struct {
	RedirectURI string  `json:"redirect_uri,omitempty"`
	ExitURI     string  `json:"exit_uri,omitempty"`
	Language    string  `json:"language,omitempty"`
	Prefilled   *person `json:"prefilled_customer,omitempty"`
	Links       links   `json:"links"`
}

// withPage adds the address of a new page. An error that may leave the billing request without a page keeps the charge's
// outcome unknown. The same key then finds the billing request again.
func (c *Client) withPage(ctx context.Context, ch gateway.Charge, o gateway.Outcome) (gateway.Outcome, error) {
	var made struct {
		Flow struct {
			URL string `json:"authorisation_url"`
		} `json:"billing_request_flows"`
	}
	body := map[string]flow{"billing_request_flows": {
		RedirectURI: ch.ReturnURL, ExitURI: ch.ReturnURL, Language: languageOf(ch.Customer.Locale), Prefilled: prefilled(ch.Customer),
		Links: links{BillingRequest: o.Container},
	}}
	refused, err := c.api.Post(ctx, "/billing_request_flows", nil, ch.Permit, body, &made)
	switch {
	case err != nil:
		// The billing request was sent, so the error must not wrap ErrNotSent.
		return gateway.Outcome{}, fmt.Errorf("page of %s: %s", o.Container, err.Error())
	case refused != nil:
		o.Event, o.Failure = fsm.EventSoftFailed, payment.NewFailure("provider_rejected", refused.code())
		return o, nil
	case made.Flow.URL == "":
		return gateway.Outcome{}, errNameless
	}
	o.NextAction = payment.Redirect(made.Flow.URL)
	return o, nil
}

// isPage reports whether a token leads to GoCardless's page.
func isPage(token string) bool { return token == page || slices.Contains(schemes(), token) }
