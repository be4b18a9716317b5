package tbank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Refund implements payment.Provider ("Cancel" of what was confirmed). A refund
// has no id but the one that we give it, which the bank remembers for cards and
// not for SBP.
func (c *Client) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	if err := c.sells(r.Money); err != nil {
		return payment.RefundOutcome{}, err
	}
	a, err := c.command(ctx, "Cancel", request{
		PaymentID: r.ProviderPaymentID, Amount: r.Money.Minor, ExternalRequestID: r.IdempotencyKey,
	}, r.Licence)
	switch {
	case err != nil:
		return payment.RefundOutcome{}, err
	case a.Success && a.Status == "":
		return payment.RefundOutcome{}, errNameless
	case a.Success:
		o := c.paidBack(a, r.IdempotencyKey)
		if o.News == fsm.NewsProcessing && a.OriginalAmount != nil && *a.OriginalAmount != r.Left.Minor {
			// Something else was paid back, which the payment's state will say as well.
			o.ProviderRefundID = ""
		}
		return o, nil
	case a.definitive():
		return payment.RefusedRefund(string(a.ErrorCode)), nil
	}
	return payment.RefundOutcome{}, a.said()
}

func (c *Client) paidBack(a answer, key string) payment.RefundOutcome {
	o := payment.RefundOutcome{News: refundNews(a.Status), ProviderRefundID: cmp.Or(a.ExternalRequestID, key)}
	if a.OriginalAmount != nil && a.NewAmount != nil && *a.OriginalAmount > *a.NewAmount {
		back := *a.OriginalAmount - *a.NewAmount
		o.Money = c.money(&back)
	}
	return o
}

// refundNews reads the status of a payment of which money was asked back. A hold
// that was released has been paid back, too.
func refundNews(status string) fsm.News {
	switch status {
	case "REFUNDED", "PARTIAL_REFUNDED", "REVERSED", "PARTIAL_REVERSED":
		return fsm.NewsSucceeded
	}
	return fsm.NewsProcessing
}

var errNoLookup = fmt.Errorf("%w: T-Bank can't be asked for a refund, and the payment leaves it open", payment.ErrNotTold)

// refundShows is how long after its refund a payment may still stand as if there were
// none: the bank documents no time, and carries some out later.
const refundShows = 10 * time.Minute

// LookupRefund implements payment.Provider as far as the payment's own state
// leaves no doubt: all was paid back, a part was, some is on its way, or nothing was.
// The bank has no call that names a refund, see Capabilities; of a part it is not said
// how much it was, or of which refund.
func (c *Client) LookupRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	a, err := c.state(ctx, r.ProviderPaymentID)
	switch {
	case errors.Is(err, payment.ErrNoSuchPayment):
		return payment.RefundOutcome{}, errNoLookup
	case err != nil:
		return payment.RefundOutcome{}, err
	}
	o := payment.RefundOutcome{ProviderRefundID: r.ProviderRefundID}
	switch taken := r.ProviderRefundID != ""; {
	case a.Status == "REFUNDED":
		o.News = fsm.NewsSucceeded
	case a.Status == "REFUNDING", a.Status == "ASYNC_REFUNDING":
		o.News = fsm.NewsProcessing
	case a.Status == "PARTIAL_REFUNDED" && taken && mayBe(a.Amount, r):
		o.News, o.Unnamed = fsm.NewsSucceeded, true
	case a.Status != "CONFIRMED", r.Age <= refundShows:
		return payment.RefundOutcome{}, errNoLookup
	case taken:
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("provider_rejected", "")
	default:
		return payment.RefundOutcome{}, payment.ErrNoSuchPayment
	}
	return o, nil
}

// mayBe reports whether what the bank says of the payment's amount goes with this
// refund. Whether that is what was paid, what is left or what was paid back is not
// documented.
func mayBe(amount *int64, r payment.RefundRef) bool {
	return amount == nil || *amount >= r.Taken.Minor || *amount == r.Taken.Minor-r.Money.Minor || *amount == r.Money.Minor
}
