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

// Lookup implements gateway.Provider (https://developer.gocardless.com/api-reference/#payments-get-a-single-payment). It
// looks up a billing request together with its payment. A payment with a refunded amount takes another request, for the
// list of its refunds.
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

// made returns the payment of a billing request. If the linked payment is missing, that proves nothing.
func (c *Client) made(ctx context.Context, b billing) (debit, error) {
	p, err := c.debit(ctx, b.Links.Payment, nil)
	if errors.Is(err, gateway.ErrNoSuchPayment) {
		err = errMade
	}
	return p, err
}

// requested returns the outcome of a billing request, or of its payment if it has one.
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

// collected returns the outcome of a payment with its refunds.
func (c *Client) collected(ctx context.Context, p debit) (gateway.Outcome, error) {
	o, err := outcome(p)
	if err != nil || o.Event != fsm.EventSucceeded || p.AmountRefunded == 0 {
		return o, err
	}
	o.Refunds, err = c.refunds(ctx, o.ProviderPaymentID)
	return o, err
}

// refunds returns all refunds of a payment (https://developer.gocardless.com/api-reference/#refunds-list-refunds).
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
		return nil, errNameless // a missing list is not an empty list
	}
	return all, err
}

// LookupRefund implements gateway.Provider
// (https://developer.gocardless.com/api-reference/#refunds-get-a-single-refund). It searches for a refund without an id
// in its payment's list, by our id in the metadata. It does not find a refund that belongs to another payment than the
// named payment.
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
		return gateway.RefundOutcome{}, gateway.ErrInconclusive // no evidence about the refunds
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

// refunded returns the payment of a refund.
func (c *Client) refunded(ctx context.Context, id string, l *gateway.Permit) (debit, error) {
	p, err := c.debit(ctx, id, l)
	if err == nil && p.ID == "" {
		err = errNameless
	}
	return p, err
}
