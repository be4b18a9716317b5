package paddle

import (
	"context"
	"fmt"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// adjustment is what changed a paid transaction (https://developer.paddle.com/api-reference/adjustments): a refund, or a
// chargeback, which Paddle itself makes.
type adjustment struct {
	ID            string `json:"id"`
	Action        string `json:"action"`
	Status        string `json:"status"`
	TransactionID string `json:"transaction_id"`
	Currency      string `json:"currency_code"`
	Reason        string `json:"reason"`
	Items         []struct {
		ItemID string `json:"item_id"`
		Amount string `json:"amount"`
	} `json:"items"`
	Totals struct {
		Total string `json:"total"`
	} `json:"totals"`
}

const (
	refundAction, chargebackAction, reverseAction = "refund", "chargeback", "chargeback_reverse"
	approved, rejected, reversed                  = "approved", "rejected", "reversed"
)

// adjusted bounds how many pages of 50 adjustments, the maximum, one transaction may have.
const adjusted = 10

// adjustments are those of a query (https://developer.paddle.com/api-reference/adjustments/list-adjustments).
func (c *Client) adjustments(ctx context.Context, query url.Values) (all []adjustment, err error) {
	query.Set("per_page", pageSize)
	err = eachPage(ctx, c, "/adjustments", query, adjusted, func(a adjustment) string {
		all = append(all, a)
		return a.ID
	})
	return all, err
}

// add adds an adjustment of a payment, named as its webhooks name it. Credits and warnings move nothing; a chargeback
// takes the money once it is approved. One that is reversed has taken it all the same: what returns it is an adjustment
// of its own (https://docs.rs/paddle-rust-sdk/latest/paddle_rust_sdk/enums/enum.AdjustmentStatus.html).
func (a adjustment) add(o *gateway.Outcome) error {
	kind := payment.MovementChargeback
	switch a.Action {
	case refundAction:
		one, err := a.refund()
		o.Refunds = append(o.Refunds, one)
		return err
	case chargebackAction:
	case reverseAction:
		kind = payment.MovementChargebackReversal
	default:
		return nil
	}
	if a.Status != approved && (a.Action != chargebackAction || a.Status != reversed) {
		return nil
	}
	moved, err := amount(a.Totals.Total, a.Currency)
	if err != nil {
		return err
	}
	o.Movements = append(o.Movements, payment.Told{Kind: kind, ID: a.ID, Money: *moved})
	return nil
}

// refund maps a refund. Most wait for Paddle's approval first; one that was rejected, or came back, has failed.
func (a adjustment) refund() (gateway.RefundOutcome, error) {
	if a.ID == "" || a.Status == "" || a.Action != refundAction || a.TransactionID == "" {
		return gateway.RefundOutcome{}, errNoObject
	}
	o := gateway.RefundOutcome{
		News: fsm.NewsProcessing, ProviderRefundID: a.ID, ProviderPaymentID: a.TransactionID, Reference: call.Reference(a.Reason),
	}
	switch a.Status {
	case approved:
		o.News = fsm.NewsSucceeded
	case rejected, reversed:
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("provider_rejected", a.Status)
	}
	var err error
	o.Money, err = amount(a.Totals.Total, a.Currency)
	return o, err
}

// adjust is as much of POST /adjustments as a refund needs
// (https://developer.paddle.com/api-reference/adjustments/create-adjustment.md). Amounts include the tax.
type adjust struct {
	Action        string       `json:"action"`
	Type          string       `json:"type"`
	TransactionID string       `json:"transaction_id"`
	Reason        string       `json:"reason"`
	Items         []adjustItem `json:"items,omitempty"`
}

type adjustItem struct {
	ItemID string `json:"item_id"`
	Type   string `json:"type"`
	Amount string `json:"amount,omitempty"`
}

const full, partial = "full", "partial"

// maxReason is ours: Paddle documents no length.
const maxReason = 192

var errUnprocessed = fmt.Errorf("%w: Paddle refunds nothing before the transaction is completed", gateway.ErrNotTold)

// Refund implements gateway.Provider. The refund's id is written behind its reason: there is no other place for it, and
// by it the refund is looked for among the transaction's adjustments before it is sent. One that is there is returned.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	units, err := digits.Units(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	of, err := c.transaction(ctx, r.ProviderPaymentID, &r.Permit)
	if err != nil {
		return gateway.RefundOutcome{}, call.NotSent(err)
	}
	before, err := c.adjustments(ctx, url.Values{"transaction_id": {r.ProviderPaymentID}})
	if err != nil {
		return gateway.RefundOutcome{}, call.NotSent(err)
	}
	if made := refundOf(before, r.Refund); made != nil {
		return made.refund()
	}
	if of.Status == paid {
		return gateway.RefundOutcome{}, call.NotSent(errUnprocessed)
	}
	request := adjust{Action: refundAction, Type: full, TransactionID: r.ProviderPaymentID, Reason: call.Reason(r, maxReason)}
	if request.Items, err = share(of, before, units); err != nil {
		return gateway.RefundOutcome{}, call.NotSent(err)
	}
	if request.Items != nil {
		request.Type = partial
	}
	var made struct {
		Data adjustment `json:"data"`
	}
	refused, err := c.api.Post(ctx, "/adjustments", nil, r.Permit, request, &made)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused == nil:
		return made.Data.refund()
	}
	return gateway.RefusedRefund(refused.Code), nil
}

func refundOf(all []adjustment, id payment.RefundID) *adjustment {
	for i := range all {
		if all[i].Action == refundAction && call.Reference(all[i].Reason) == id.String() {
			return &all[i]
		}
	}
	return nil
}

// LookupRefund implements gateway.Provider: by its own id, or by ours among the adjustments of its payment. How soon a
// list shows an adjustment is not documented.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	query := url.Values{"transaction_id": {r.ProviderPaymentID}}
	if r.ProviderRefundID != "" {
		query = url.Values{"id": {r.ProviderRefundID}}
	}
	all, err := c.adjustments(ctx, query)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	found := refundOf(all, r.Refund)
	if r.ProviderRefundID != "" {
		found = nil
		for i := range all {
			if all[i].ID == r.ProviderRefundID {
				found = &all[i]
			}
		}
	}
	if found == nil {
		return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
	}
	return found.refund()
}
