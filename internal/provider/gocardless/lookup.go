package gocardless

import (
	"context"
	"errors"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// Lookup implements gateway.Provider
// (https://developer.gocardless.com/api-reference/#payments-get-a-single-payment). The refunds of a payment are listed apart,
// once it has an amount that was refunded.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	var found struct {
		Payment debit `json:"payments"`
	}
	if err := c.get(ctx, "payments", id, &found); err != nil {
		return gateway.Outcome{}, err
	}
	o, err := outcome(found.Payment)
	if err != nil || o.News != fsm.NewsSucceeded || found.Payment.AmountRefunded == 0 {
		return o, err
	}
	o.Refunds, err = c.refunds(ctx, o.ProviderPaymentID)
	return o, err
}

// refunds are all of a payment (https://developer.gocardless.com/api-reference/#refunds-list-refunds).
func (c *Client) refunds(ctx context.Context, of string) (all []gateway.RefundOutcome, err error) {
	query := url.Values{"payment": {of}, "limit": {"500"}}
	for {
		var page struct {
			Refunds []refund `json:"refunds"`
			Meta    struct {
				Cursors struct {
					After string `json:"after"`
				} `json:"cursors"`
			} `json:"meta"`
		}
		switch err := c.read(ctx, "refunds?"+query.Encode(), &page); {
		case errors.Is(err, gateway.ErrNoSuchPayment), err == nil && page.Refunds == nil:
			return nil, errNameless
		case err != nil:
			return nil, err
		}
		for _, r := range page.Refunds {
			one, err := refundOutcome(r)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
		if page.Meta.Cursors.After == "" {
			return all, nil
		}
		query.Set("after", page.Meta.Cursors.After)
	}
}

// LookupRefund implements gateway.Provider
// (https://developer.gocardless.com/api-reference/#refunds-get-a-single-refund). A refund of
// another payment than the one that is named is not found.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	if r.ProviderRefundID == "" {
		return gateway.RefundOutcome{}, gateway.ErrUnsupported
	}
	var found struct {
		Refund refund `json:"refunds"`
	}
	if err := c.get(ctx, "refunds", r.ProviderRefundID, &found); err != nil {
		return gateway.RefundOutcome{}, err
	}
	o, err := refundOutcome(found.Refund)
	if err == nil && r.ProviderPaymentID != "" && o.ProviderPaymentID != r.ProviderPaymentID {
		return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
	}
	return o, err
}
