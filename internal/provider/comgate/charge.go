package comgate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const (
	// page is the token of a payment with any method on Comgate's page. Any other single-use token is the code of a
	// method, or an expression of several codes (comgate-node, create.ts, method).
	page = "redirect"
	// anyMethod is Comgate's code for all methods.
	anyMethod = "ALL"
	// maxLabel is the maximum length of a label, in characters.
	maxLabel = 16
)

// Charge implements gateway.Provider.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	kind := c.TokenKind(ch.Token)
	if err := ch.Fits(kind); err != nil {
		return gateway.Outcome{}, err
	}
	form, err := c.beginning(ch)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case kind == gateway.TokenStored && ch.Capture == payment.CaptureManual:
		return gateway.Outcome{}, fmt.Errorf("%w: a recurring payment is not held", gateway.ErrUnsupportedRequest)
	case kind == gateway.TokenStored:
		return c.recur(ctx, ch, form)
	}
	return c.create(ctx, ch, form)
}

// beginning returns the members that both kinds of payments have.
func (c *Client) beginning(ch gateway.Charge) (url.Values, error) {
	price, err := units(ch.Money)
	if err != nil {
		return nil, err
	}
	form := url.Values{
		"prepareOnly": {"true"}, "price": {strconv.FormatInt(price, 10)}, "curr": {string(ch.Money.Currency)},
		// The webhook reader uses the refId.
		"refId": {ch.Attempt.String()}, "label": {kit.Short(cmp.Or(ch.StatementDescriptor, string(ch.Order)), maxLabel)},
	}
	c.mark(form)
	set(form, "email", ch.Customer.Email)
	set(form, "country", countryOf(ch.Customer.Billing))
	for _, name := range providerData() {
		set(form, name, text(ch.ProviderData[name]))
	}
	return form, nil
}

// mark marks a payment or a refund as a test.
func (c *Client) mark(form url.Values) {
	if c.Test {
		form.Set("test", "true")
	}
}

// set sets a member unless its value is empty.
func set(form url.Values, name, value string) {
	if value != "" {
		form.Set(name, value)
	}
}

// create begins a payment on Comgate's page (comgate-node, create.ts). The customer returns to the same address after
// every result. Only this answer contains the page's address.
func (c *Client) create(ctx context.Context, ch gateway.Charge, form url.Values) (gateway.Outcome, error) {
	form.Set("method", ch.Token)
	if ch.Token == page {
		form.Set("method", anyMethod)
	}
	set(form, "lang", languageOf(ch.Customer.Locale))
	for _, name := range []string{"url_paid", "url_cancelled", "url_pending"} {
		set(form, name, ch.ReturnURL)
	}
	if life := c.expiry(ch.Details); life > 0 {
		form.Set("expirationTime", strconv.Itoa(int(life.Minutes()))+"m")
		form.Set("dynamicExpiration", "false")
	}
	if ch.Capture == payment.CaptureManual {
		form.Set("preauth", "true")
	}
	if ch.Save {
		form.Set("initRecurring", "true")
		form.Set("payerId", payerOf(ch.Customer.Reference))
	}
	a, err := c.command(ctx, "create", form, ch.Permit)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !a.ok():
		return refused(a)
	case a.get("transId") == "" || a.get("redirect") == "":
		return gateway.Outcome{}, errNameless
	}
	return gateway.Outcome{
		Event: fsm.EventActionRequired, ProviderPaymentID: a.get("transId"), References: []string{ch.Attempt.String()},
		NextAction: payment.Redirect(a.get("redirect")),
	}, nil
}

// shortest and longest are the limits of a payment's expirationTime (comgate-node, create.ts).
const shortest, longest = 30 * time.Minute, 7 * 24 * time.Hour

// expiry returns when the page of a payment expires, in whole minutes. It returns 0 if provider_data or the portal sets the
// time, or if the payer has paid before the call.
func (c *Client) expiry(d gateway.Details) time.Duration {
	for _, name := range []string{"applePayPayload", "dynamicExpiration", "expirationTime"} {
		if _, given := d.ProviderData[name]; given {
			return 0
		}
	}
	if c.AwaitsCustomer <= 0 {
		return 0
	}
	return min(max(c.AwaitsCustomer.Truncate(time.Minute), shortest), longest)
}

// recur charges a payment method by the payment that was marked for recurrence (comgate-node, recurring.ts). The answer
// has no status, so recur looks it up. Until the status shows, the payment does not wait for a customer.
func (c *Client) recur(ctx context.Context, ch gateway.Charge, form url.Values) (gateway.Outcome, error) {
	form.Set("initRecurringId", ch.Token)
	a, err := c.command(ctx, "recurring", form, ch.Permit)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !a.ok():
		return refused(a)
	case a.get("transId") == "":
		return gateway.Outcome{}, errNameless
	}
	begun := gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: a.get("transId"), References: []string{ch.Attempt.String()}}
	if now, err := c.Lookup(ctx, begun.ProviderPaymentID); err == nil && now.Event != fsm.EventActionRequired {
		return now, nil
	}
	return begun, nil
}

// refused returns the outcome of a payment that Comgate refused to begin.
func refused(a answer) (gateway.Outcome, error) {
	if !a.refuses() {
		return gateway.Outcome{}, a.failure()
	}
	return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", a.get("code"))}, nil
}

var errWhole = errors.New("comgate takes whole forints only")

// units returns the amount in hundredths. Forints must be whole (comgate-payment-types, create.ts, price).
func units(m payment.Money) (int64, error) {
	price, err := digits.Units(m)
	if err == nil && m.Currency == "HUF" && price%100 != 0 {
		err = fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, errWhole)
	}
	return price, err
}
