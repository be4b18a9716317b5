package mollie

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

type refundRequest struct {
	Amount      amount            `json:"amount"`
	Description string            `json:"description"`
	Metadata    map[string]string `json:"metadata"`
}

// refundName is what our id of a refund is called in its metadata.
const refundName = "refund_id"

// Refund implements payment.Provider (https://docs.mollie.com/reference/create-refund).
// Our reason stays with us: what Mollie takes as a description the customer reads.
func (c *Client) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	value, err := call.Decimal(r.Money)
	if err != nil {
		return payment.RefundOutcome{}, err
	}
	var made refund
	refused, err := c.command(ctx, http.MethodPost, paymentPath(r.ProviderPaymentID)+"/refunds", r.IdempotencyKey, r.Licence, refundRequest{
		Amount: amount{string(r.Money.Currency), value}, Description: "Refund",
		Metadata: map[string]string{refundName: r.Refund.String(), "payment_attempt_id": r.Attempt.String()},
	}, &made)
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusConflict:
		return duplicate(refused), nil
	case err != nil:
		return payment.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(made)
	}
	return payment.RefusedRefund(refused.code()), nil
}

// duplicate is a refund that Mollie takes for another one, of the same amount within
// the hour (https://docs.mollie.com/changelog, March 2020): it was not made.
func duplicate(refused *refusal) payment.RefundOutcome {
	o := payment.RefusedRefund(refused.code())
	o.Failure.Message = "Mollie makes no second refund of the same amount of a payment within an hour. Wait an hour, or refund another amount."
	return o
}

// LookupRefund implements payment.Provider. Mollie knows a refund that was cancelled
// no more (https://docs.mollie.com/reference/get-refund), which can be done in its
// dashboard until the money leaves: one that has a name and that its payment, which
// Mollie does know, has not any more is such a one.
func (c *Client) LookupRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	path := paymentPath(r.ProviderPaymentID) + "/refunds"
	if r.ProviderRefundID == "" {
		o, err := c.findRefund(ctx, path, func(made refund) bool { return texts(made.Metadata)[refundName] == r.Refund.String() })
		if errors.Is(err, payment.ErrNoSuchPayment) && !errors.Is(err, errNotListed) {
			err = errNoPayment
		}
		return o, err
	}
	var found refund
	err := c.get(ctx, path+"/"+url.PathEscape(r.ProviderRefundID), nil, &found)
	switch {
	case err == nil:
		return refundOutcome(found)
	case !errors.Is(err, payment.ErrNoSuchPayment):
		return payment.RefundOutcome{}, err
	}
	o, err := c.findRefund(ctx, path, func(made refund) bool { return made.ID == r.ProviderRefundID })
	if errors.Is(err, errNotListed) && r.Age > settled {
		return payment.RefundOutcome{
			News: fsm.NewsFailed, ProviderRefundID: r.ProviderRefundID, Failure: payment.NewFailure("canceled", ""),
		}, nil
	}
	return o, err
}

// settled is when a refund that was made is surely seen by whoever asks: Mollie's
// first answers about a new object may be 404 (github.com/mollie/mollie-api-php,
// issue 585).
const settled = 10 * time.Minute

// pageSize is the largest that Mollie's lists have.
const pageSize = "250"

// errNotListed is returned when Mollie knows the payment and has no such refund of it.
var errNotListed = fmt.Errorf("%w: its payment has no such refund", payment.ErrNoSuchPayment)

// errNoPayment is returned for a payment that this key does not know: of its refunds
// that says nothing.
var errNoPayment = fmt.Errorf("%w: there is no such payment", payment.ErrNotTold)

// findRefund looks through all refunds of the payment
// (https://docs.mollie.com/reference/list-refunds).
func (c *Client) findRefund(ctx context.Context, path string, meant func(made refund) bool) (payment.RefundOutcome, error) {
	query := url.Values{"limit": {pageSize}}
	for {
		var page struct {
			Embedded struct {
				Refunds []refund `json:"refunds"`
			} `json:"_embedded"`
			Links struct {
				Next *link `json:"next"`
			} `json:"_links"`
		}
		if err := c.get(ctx, path+"?"+query.Encode(), nil, &page); err != nil {
			return payment.RefundOutcome{}, err
		}
		if page.Embedded.Refunds == nil {
			return payment.RefundOutcome{}, errNameless
		}
		for _, made := range page.Embedded.Refunds {
			if meant(made) {
				return refundOutcome(made)
			}
		}
		next := page.Links.Next.from()
		if next == "" {
			return payment.RefundOutcome{}, errNotListed
		}
		query.Set("from", next)
	}
}

// from is where the next page begins. Of Mollie's link only that is used: an
// address of somebody else's must not be shown the key.
func (l *link) from() string {
	if l == nil {
		return ""
	}
	to, err := url.Parse(l.Href)
	if err != nil {
		return ""
	}
	return to.Query().Get("from")
}
