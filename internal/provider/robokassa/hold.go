package robokassa

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Capture implements gateway.Provider (https://docs.robokassa.ru/ru/holding, "Confirm"). Robokassa releases the
// uncaptured rest. A hold can be confirmed only once, so Capture first looks the payment up.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	id := cp.ProviderPaymentID
	sum, err := c.sum(cp.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	on, err := c.receiptOf(cp.Receipt)
	if err != nil {
		return gateway.Outcome{}, err
	}
	now, err := c.standing(ctx, id, &cp.Permit)
	if err != nil || now.Event != fsm.EventAuthorized {
		now.Refused = err == nil && now.Event != fsm.EventSucceeded
		return now, err
	}
	form := url.Values{"OutSum": {sum}}
	signed := []string{c.shop.Login, sum, id}
	if on != "" {
		form.Set("Receipt", on)
		signed = append(signed, on)
	}
	now, accepted, err := c.command(ctx, "Confirm", id, form, append(signed, c.shop.Password1), cp.Permit)
	if accepted && now.Event == fsm.EventSucceeded {
		// Robokassa does not document whether the state has the captured amount or the order's amount.
		now.Money = &cp.Money
	}
	return now, err
}

// pageLife is our limit for the time that a customer may still be on the page, or at a bank opened from it, after a
// cancel. Robokassa documents no time.
const pageLife = 15 * time.Minute

// Cancel implements gateway.Provider. It cancels a hold (https://docs.robokassa.ru/ru/holding, "Cancel"). A link can't
// be cancelled. It counts as cancelled after pageLife, the time to finish a payment that has begun. A later payment is
// late money.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	id := cl.ProviderPaymentID
	now, err := c.standing(ctx, id, &cl.Permit)
	if err != nil {
		return gateway.Outcome{}, err
	}
	switch {
	case now.Event == fsm.EventAuthorized:
		now, _, err = c.command(ctx, "Cancel", id, url.Values{}, []string{c.shop.Login, "", id, c.shop.Password1}, cl.Permit)
		return now, err
	case now.Event != fsm.EventActionRequired && now.Event != fsm.EventSoftFailed:
		now.Refused = now.Event != fsm.EventFailed
	case cl.Quiet >= pageLife:
		now.Event, now.PageOpen, now.Failure = fsm.EventFailed, false, payment.NewFailure("canceled", "")
	}
	return now, nil
}

// command sends a command for a hold and looks the payment up. The response only accepts the command. If the payment
// does not show the result yet, the outcome is processing.
func (c *Client) command(ctx context.Context, verb, id string, form url.Values, signed []string, l gateway.Permit) (now gateway.Outcome, accepted bool, err error) {
	form.Set("MerchantLogin", c.shop.Login)
	form.Set("InvoiceID", id)
	form.Set("SignatureValue", c.sign(signed...))
	a, err := c.send(ctx, posted(c.base+"/Merchant/Payment/"+verb, form, l), http.StatusOK)
	if err != nil {
		return gateway.Outcome{}, false, err
	}
	if accepted, err = verdict(a); err != nil {
		return gateway.Outcome{}, false, err
	}
	now, err = c.standing(ctx, id, nil)
	switch {
	case !accepted:
		now.Refused = now.Event == fsm.EventAuthorized
		return now, false, err
	case err != nil, now.Event == fsm.EventAuthorized: // the command was accepted nevertheless
		now = gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: id}
	}
	return now, true, nil
}

// verdict reads the response to a command: a text such as "success: true", as JSON or bare
// (https://docs.robokassa.ru/ru/holding). Any other text leaves the outcome unknown.
func verdict(a kit.Answer) (accepted bool, err error) {
	said := string(a.Body)
	_ = json.Unmarshal(a.Body, &said) // text that is not JSON stays unchanged
	switch said {
	case "success: true":
		return true, nil
	case "success: false":
		return false, nil
	}
	return false, errUnclear
}
