package tbank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Refund implements gateway.Provider ("Cancel" of a confirmed payment). A refund has only the id that we assign. The
// bank stores this id for cards, but not for SBP.
func (c *Client) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	if err := c.sells(r.Money); err != nil {
		return gateway.RefundOutcome{}, err
	}
	on, err := c.receiptOfRefund(ctx, r)
	if err != nil {
		return gateway.RefundOutcome{}, kit.NotSent(err)
	}
	a, err := c.command(ctx, "Cancel", request{
		PaymentID: r.ProviderPaymentID, Amount: r.Money.Minor, ExternalRequestID: r.IdempotencyKey, Receipt: on,
	}, r.Permit)
	switch {
	case err != nil:
		return gateway.RefundOutcome{}, err
	case a.Success && a.Status == "":
		return gateway.RefundOutcome{}, errNameless
	case a.Success:
		o := c.paidBack(a, r.IdempotencyKey)
		if o.Event == fsm.EventProcessing && a.OriginalAmount != nil && *a.OriginalAmount != r.Left.Minor {
			// The payment has another refund, which its state shows as well.
			o.ProviderRefundID = ""
		}
		return o, nil
	case a.definitive():
		return gateway.RefusedRefund(string(a.ErrorCode)), nil
	}
	return gateway.RefundOutcome{}, a.said()
}

func (c *Client) paidBack(a answer, key string) gateway.RefundOutcome {
	o := gateway.RefundOutcome{Event: refundNews(a.Status), ProviderRefundID: cmp.Or(a.ExternalRequestID, key)}
	if a.OriginalAmount != nil && a.NewAmount != nil && *a.OriginalAmount > *a.NewAmount {
		back := *a.OriginalAmount - *a.NewAmount
		o.Money = c.money(&back)
	}
	return o
}

// refundNews maps the status of a payment with a requested refund. A released hold counts as refunded.
func refundNews(status string) fsm.Event {
	switch status {
	case "REFUNDED", "PARTIAL_REFUNDED", "REVERSED", "PARTIAL_REVERSED":
		return fsm.EventSucceeded
	}
	return fsm.EventProcessing
}

var errNoLookup = fmt.Errorf("%w: T-Bank has no lookup of refunds, and the payment's state does not decide", gateway.ErrInconclusive)

// refundShows is our limit for the time until a payment shows its refund. The bank documents no time, and executes some
// refunds later.
const refundShows = 10 * time.Minute

// LookupRefund implements gateway.Provider as far as the payment's own state is unambiguous: everything was refunded, a
// part was refunded, a refund is pending, or nothing was refunded. The bank has no call that finds a refund, see
// Capabilities. A partial refund has neither a documented amount nor an id.
func (c *Client) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	a, err := c.state(ctx, r.ProviderPaymentID)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return gateway.RefundOutcome{}, errNoLookup
	case err != nil:
		return gateway.RefundOutcome{}, err
	}
	o := gateway.RefundOutcome{ProviderRefundID: r.ProviderRefundID}
	switch taken := r.ProviderRefundID != ""; {
	case a.Status == "REFUNDED":
		o.Event = fsm.EventSucceeded
	case a.Status == "REFUNDING", a.Status == "ASYNC_REFUNDING":
		o.Event = fsm.EventProcessing
	case a.Status == "PARTIAL_REFUNDED" && taken && mayBe(a.Amount, r):
		o.Event, o.Unnamed = fsm.EventSucceeded, true
	case a.Status != "CONFIRMED", r.Age <= refundShows:
		return gateway.RefundOutcome{}, errNoLookup
	case taken:
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("provider_rejected", "")
	default:
		return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
	}
	return o, nil
}

// mayBe reports whether the payment's amount is consistent with this refund. The bank does not document whether it is
// the paid, the remaining or the refunded amount.
func mayBe(amount *int64, r gateway.RefundRef) bool {
	return amount == nil || *amount >= r.Taken.Minor || *amount == r.Taken.Minor-r.Money.Minor || *amount == r.Money.Minor
}
