package lemonsqueezy

import (
	"context"
	"errors"
	"fmt"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// refunded is the attributes of POST /v1/orders/:id/refund (https://docs.lemonsqueezy.com/api/orders/issue-refund).
type refunded struct {
	Amount int64 `json:"amount"`
}

var (
	errNoOrder = errors.New("no order of the payment is known: no webhook has named one")
	errMoved   = fmt.Errorf("%w: the order shows a refund that is not recorded", gateway.ErrInconclusive)
	errOther   = errors.New("the order is in another currency")
)

// Refund implements gateway.Provider. A refund has no id at Lemon Squeezy and no field for our id, so the outcome names
// it by our id. An order shows only its total refunded amount. Refund first looks the order up, and sends nothing if
// more is refunded than we have recorded: this refund may have succeeded with a lost answer.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	before, err := c.paid(ctx, r.ProviderPaymentID, &r.Permit)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, kit.NotSent(err)
	case before.Attributes.Currency != string(r.Money.Currency):
		return gateway.RefundOutcome{}, kit.NotSent(errOther)
	case before.Attributes.left() < r.Left.Minor:
		return gateway.RefundOutcome{}, kit.NotSent(errMoved)
	}
	var after document[order]
	refused, err := c.api.Post(ctx, "/orders/"+before.ID+"/refund", nil, r.Permit, document[refunded]{object[refunded]{
		Type: orders, ID: before.ID, Attributes: refunded{r.Money.Minor},
	}}, &after)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case refused != nil:
		return gateway.RefusedRefund(refused.code()), nil
	case !valid(after.Data) || after.Data.ID != before.ID:
		return gateway.RefundOutcome{}, errNoObject
	}
	o := named(r.Refund)
	o.Money = &r.Money
	if after.Data.Attributes.RefundedAmount < before.Attributes.RefundedAmount+r.Money.Minor {
		o.Event = fsm.EventProcessing
	}
	return o, nil
}

// named returns the outcome of a successful refund with our id.
func named(id payment.RefundID) gateway.RefundOutcome {
	return gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: id.String(), Reference: id.String()}
}

// paid looks up the order of a refund.
func (c *Client) paid(ctx context.Context, id string, l *gateway.Permit) (object[order], error) {
	if !orderForm.MatchString(id) {
		return object[order]{}, fmt.Errorf("%w: %w", gateway.ErrInconclusive, errNoOrder)
	}
	return c.order(ctx, id, l)
}

// LookupRefund implements gateway.Provider as far as the order is unambiguous: everything was refunded, nothing was
// refunded, or at least this refund's amount was. A refund itself can't be looked up, see Capabilities. Lemon Squeezy
// does not document how soon an order shows a refund, so "nothing" is no proof.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	found, err := c.paid(ctx, r.ProviderPaymentID, nil)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return gateway.RefundOutcome{}, fmt.Errorf("%w: there is no such order", gateway.ErrInconclusive)
	case err != nil:
		return gateway.RefundOutcome{}, err
	}
	a, o := found.Attributes, named(r.Refund)
	switch {
	case a.RefundedAmount == 0 && r.ProviderRefundID == "":
		return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
	case a.RefundedAmount == 0, a.RefundedAmount < r.Money.Minor:
		return gateway.RefundOutcome{}, fmt.Errorf("%w: less was refunded", gateway.ErrInconclusive)
	}
	o.Unnamed = a.left() > 0
	return o, nil
}
