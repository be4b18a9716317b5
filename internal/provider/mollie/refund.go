package mollie

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

type refundRequest struct {
	Amount      amount            `json:"amount"`
	Description string            `json:"description"`
	Metadata    map[string]string `json:"metadata"`
}

// refundName is the metadata key of our refund id.
const refundName = "refund_id"

// Refund implements gateway.Provider (https://docs.mollie.com/reference/create-refund). It does not send our reason,
// because Mollie shows the description to the customer.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	value, err := kit.Decimal(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	body, err := kit.With(refundRequest{
		Amount: amount{string(r.Money.Currency), value}, Description: "Refund",
		Metadata: map[string]string{refundName: r.Refund.String(), "payment_attempt_id": r.Attempt.String()},
	}, r.ProviderData, further().Refund)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	var made refund
	refused, err := c.command(ctx, http.MethodPost, paymentPath(r.ProviderPaymentID)+"/refunds", r.IdempotencyKey, r.Permit, body, &made)
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusConflict:
		return duplicate(refused), nil
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused == nil:
		return refundOutcome(made)
	}
	return gateway.RefusedRefund(refused.code()), nil
}

// duplicate returns the outcome of a refund that Mollie rejected as a duplicate of a refund with the same amount within
// an hour (https://docs.mollie.com/changelog, March 2020). The refund was not created.
func duplicate(refused *refusal) gateway.RefundOutcome {
	o := gateway.RefusedRefund(refused.code())
	o.Failure.Message = "Mollie makes no second refund of the same amount of a payment within an hour. Wait an hour, or refund another amount."
	return o
}

// LookupRefund implements gateway.Provider. Mollie deletes a cancelled refund
// (https://docs.mollie.com/reference/get-refund), and its dashboard can cancel a refund until the money leaves. So if a
// refund has an id and its payment does not list it any more, it was cancelled.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	path := paymentPath(r.ProviderPaymentID) + "/refunds"
	if r.ProviderRefundID == "" {
		o, err := c.findRefund(ctx, path, func(made refund) bool { return texts(made.Metadata)[refundName] == r.Refund.String() })
		if errors.Is(err, gateway.ErrNoSuchPayment) && !errors.Is(err, errNotListed) {
			err = errNoPayment
		}
		return o, err
	}
	var found refund
	err := c.api.Get(ctx, path+"/"+url.PathEscape(r.ProviderRefundID), nil, &found)
	switch {
	case err == nil:
		return refundOutcome(found)
	case !errors.Is(err, gateway.ErrNoSuchPayment):
		return gateway.RefundOutcome{}, err
	}
	o, err := c.findRefund(ctx, path, func(made refund) bool { return made.ID == r.ProviderRefundID })
	if errors.Is(err, errNotListed) && r.Age > settled {
		return gateway.RefundOutcome{
			Event: fsm.EventFailed, ProviderRefundID: r.ProviderRefundID, Failure: payment.NewFailure("canceled", ""),
		}, nil
	}
	return o, err
}

// settled is the age at which a created refund is certainly visible. Mollie's first responses about a new object may be
// 404 (github.com/mollie/mollie-api-php, issue 585).
const settled = 10 * time.Minute

// errNotListed is returned if the payment exists and does not have the refund.
var errNotListed = fmt.Errorf("%w: its payment has no such refund", gateway.ErrNoSuchPayment)

// errNoPayment is returned if this key can't find the payment. That is no evidence about the payment's refunds.
var errNoPayment = fmt.Errorf("%w: there is no such payment", gateway.ErrInconclusive)

// findRefund searches all refunds of the payment
// (https://docs.mollie.com/reference/list-refunds).
func (c *Client) findRefund(ctx context.Context, path string, meant func(made refund) bool) (gateway.RefundOutcome, error) {
	var found *refund
	err := each(ctx, c, path, "refunds", pageSize, func(made refund) (bool, error) {
		if meant(made) {
			found = &made
		}
		return found == nil, nil
	})
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case found == nil:
		return gateway.RefundOutcome{}, errNotListed
	}
	return refundOutcome(*found)
}
