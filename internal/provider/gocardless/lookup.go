package gocardless

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Lookup implements gateway.Provider
// (https://developer.gocardless.com/api-reference/#payments-get-a-single-payment). A billing request is looked up with the
// payment that it has made. The refunds of a payment are listed apart, once it has an amount that
// was refunded.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	if isRequest(id) {
		b, err := c.billing(ctx, id, nil)
		if err != nil {
			return gateway.Outcome{}, err
		}
		return c.requested(ctx, b)
	}
	p, err := c.debit(ctx, id, nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return c.collected(ctx, p)
}

// Find implements gateway.Provider: GoCardless has no such call.
func (c *Client) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

func isRequest(id string) bool { return strings.HasPrefix(id, requestPrefix) }

func (c *Client) debit(ctx context.Context, id string, l *gateway.Permit) (debit, error) {
	var found struct {
		Payment debit `json:"payments"`
	}
	err := c.get(ctx, "payments", id, l, &found)
	return found.Payment, err
}

func (c *Client) billing(ctx context.Context, id string, l *gateway.Permit) (billing, error) {
	var found struct {
		Request billing `json:"billing_requests"`
	}
	err := c.get(ctx, "billing_requests", id, l, &found)
	if err == nil && (found.Request.ID == "" || found.Request.Status == "") {
		err = errNameless
	}
	return found.Request, err
}

// made is the payment of a billing request. One that is linked and missing is no proof of anything.
func (c *Client) made(ctx context.Context, b billing) (debit, error) {
	p, err := c.debit(ctx, b.Links.Payment, nil)
	if errors.Is(err, gateway.ErrNoSuchPayment) {
		err = errMade
	}
	return p, err
}

// requested is the outcome of a billing request, of whose payment if it has made one.
func (c *Client) requested(ctx context.Context, b billing) (gateway.Outcome, error) {
	if b.Links.Payment == "" {
		return b.outcome(), nil
	}
	p, err := c.made(ctx, b)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := c.collected(ctx, p)
	o.Container, o.References, o.Saved = b.ID, b.references(), b.saved()
	return o, err
}

// collected is the outcome of a payment with its refunds.
func (c *Client) collected(ctx context.Context, p debit) (gateway.Outcome, error) {
	o, err := outcome(p)
	if err != nil || o.News != fsm.NewsSucceeded || p.AmountRefunded == 0 {
		return o, err
	}
	o.Refunds, err = c.refunds(ctx, o.ProviderPaymentID)
	return o, err
}

// refunds are all of a payment (https://developer.gocardless.com/api-reference/#refunds-list-refunds).
func (c *Client) refunds(ctx context.Context, of string) (all []gateway.RefundOutcome, err error) {
	err = each(ctx, c, "refunds", url.Values{"payment": {of}}, func(raw json.RawMessage) error {
		var r refund
		if err := json.Unmarshal(raw, &r); err != nil {
			return errNameless
		}
		one, err := refundOutcome(r)
		all = append(all, one)
		return err
	})
	if errors.Is(err, gateway.ErrNoSuchPayment) {
		return nil, errNameless // a list that is not there is none
	}
	return all, err
}

// LookupRefund implements gateway.Provider
// (https://developer.gocardless.com/api-reference/#refunds-get-a-single-refund). One without an id is looked for in the list
// of its payment, by our id in its metadata. A refund of another payment than the one that is named is not found.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderRefundID == "" {
		return c.findRefund(ctx, r)
	}
	var found struct {
		Refund refund `json:"refunds"`
	}
	if err := c.get(ctx, "refunds", r.ProviderRefundID, nil, &found); err != nil {
		return gateway.RefundOutcome{}, err
	}
	o, err := refundOutcome(found.Refund)
	if err == nil && r.ProviderPaymentID != "" && o.ProviderPaymentID != r.ProviderPaymentID {
		return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
	}
	return o, err
}

func (c *Client) findRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderPaymentID == "" {
		return gateway.RefundOutcome{}, gateway.ErrUnsupported
	}
	p, err := c.refunded(ctx, r.ProviderPaymentID, nil)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return gateway.RefundOutcome{}, gateway.ErrNotTold // no evidence about its refunds
	case err != nil:
		return gateway.RefundOutcome{}, err
	}
	all, err := c.refunds(ctx, p.ID)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	for _, one := range all {
		if one.Reference == r.Refund.String() {
			return one, nil
		}
	}
	return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
}

// refunded is the payment that a refund is of.
func (c *Client) refunded(ctx context.Context, id string, l *gateway.Permit) (debit, error) {
	p, err := c.debit(ctx, id, l)
	if err == nil && p.ID == "" {
		err = errNameless
	}
	return p, err
}
