package paddle

import (
	"context"
	"fmt"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// adjustment is a change of a paid transaction (https://developer.paddle.com/api-reference/adjustments): a refund, or a
// chargeback, which Paddle creates itself.
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

// adjusted limits the number of pages that are read for one transaction. A page has at most 50 adjustments.
const adjusted = 10

// adjustments lists the adjustments that match a query
// (https://developer.paddle.com/api-reference/adjustments/list-adjustments).
func (c *Client) adjustments(ctx context.Context, query url.Values) (all []adjustment, err error) {
	query.Set("per_page", pageSize)
	err = eachPage(ctx, c, "/adjustments", query, adjusted, func(a adjustment) string {
		all = append(all, a)
		return a.ID
	})
	return all, err
}

// add adds an adjustment to a payment, under the name that its webhooks use. Credits and warnings move no money. A
// chargeback takes the money when it is approved. A reversed chargeback still took the money: a separate adjustment
// returns it (https://docs.rs/paddle-rust-sdk/latest/paddle_rust_sdk/enums/enum.AdjustmentStatus.html).
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
	o.Movements = append(o.Movements, payment.MovementReport{Kind: kind, ID: a.ID, Money: *moved})
	return nil
}

// refund maps a refund. Most refunds wait for Paddle's approval. A rejected or returned refund has failed.
func (a adjustment) refund() (gateway.RefundOutcome, error) {
	if a.ID == "" || a.Status == "" || a.Action != refundAction || a.TransactionID == "" {
		return gateway.RefundOutcome{}, errNoObject
	}
	o := gateway.RefundOutcome{
		Event: fsm.EventProcessing, ProviderRefundID: a.ID, ProviderPaymentID: a.TransactionID, Reference: kit.Reference(a.Reason),
	}
	switch a.Status {
	case approved:
		o.Event = fsm.EventSucceeded
	case rejected, reversed:
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("provider_rejected", a.Status)
	}
	var err error
	o.Money, err = amount(a.Totals.Total, a.Currency)
	return o, err
}

// adjust is the part of POST /adjustments that a refund needs
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

// maxReason is our limit. Paddle documents none.
const maxReason = 192

var errUnprocessed = fmt.Errorf("%w: Paddle refunds nothing before the transaction is completed", gateway.ErrInconclusive)

// Refund implements gateway.Provider. Paddle has no field for our refund id, so Refund appends the id to the reason.
// Before it sends the refund, it searches the transaction's adjustments for the id, and returns the refund that it
// finds.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	units, err := digits.Units(r.Money)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	of, err := c.transaction(ctx, r.ProviderPaymentID, &r.Permit)
	if err != nil {
		return gateway.RefundOutcome{}, kit.NotSent(err)
	}
	before, err := c.adjustments(ctx, url.Values{"transaction_id": {r.ProviderPaymentID}})
	if err != nil {
		return gateway.RefundOutcome{}, kit.NotSent(err)
	}
	if made := refundOf(before, r.Refund); made != nil {
		return made.refund()
	}
	if of.Status == paid {
		return gateway.RefundOutcome{}, kit.NotSent(errUnprocessed)
	}
	request := adjust{Action: refundAction, Type: full, TransactionID: r.ProviderPaymentID, Reason: kit.Reason(r, maxReason)}
	if request.Items, err = share(of, before, units); err != nil {
		return gateway.RefundOutcome{}, kit.NotSent(err)
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
		if all[i].Action == refundAction && kit.Reference(all[i].Reason) == id.String() {
			return &all[i]
		}
	}
	return nil
}

// LookupRefund implements gateway.Provider. It finds a refund by Paddle's id, or by our id among the payment's
// adjustments. Paddle does not document how soon a list shows an adjustment.
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
