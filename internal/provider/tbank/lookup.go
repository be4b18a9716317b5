package tbank

import (
	"context"
	"errors"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Lookup implements payment.Provider ("GetState").
func (c *Client) Lookup(ctx context.Context, id string) (payment.Outcome, error) {
	a, err := c.state(ctx, id)
	if err != nil {
		return payment.Outcome{}, err
	}
	return c.outcome(a)
}

// state is the answer about a payment. One that was declined may come as an error
// with its status.
func (c *Client) state(ctx context.Context, id string) (answer, error) {
	a, err := c.question(ctx, "GetState", request{PaymentID: id})
	switch {
	case err != nil:
		return answer{}, err
	case a.missing():
		return answer{}, payment.ErrNoSuchPayment
	case !a.Success && a.Status == "":
		return answer{}, a.said()
	}
	return a, nil
}

// Find implements payment.Provider ("CheckOrder"): our reference is the bank's
// OrderId, of which it may have several payments. The one that went furthest
// counts. Who has to search did not hear the answer to Init: nobody knows of the
// payment's page. One that is still new is to be cancelled, and one that failed can't be
// tried again.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (payment.Outcome, error) {
	a, err := c.question(ctx, "CheckOrder", request{OrderID: id.String()})
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case a.missing():
		return payment.Outcome{}, payment.ErrNoSuchPayment
	case !a.Success:
		return payment.Outcome{}, a.said()
	case a.Payments == nil:
		return payment.Outcome{}, errNameless
	case len(a.Payments) == 0:
		return payment.Outcome{}, payment.ErrNoSuchPayment
	}
	best := a.Payments[0]
	for _, p := range a.Payments[1:] {
		if rank(p.Status) > rank(best.Status) {
			best = p
		}
	}
	now, err := c.state(ctx, string(best.PaymentID))
	switch {
	case errors.Is(err, payment.ErrNoSuchPayment):
		return payment.Outcome{}, errListed
	case err != nil:
		return payment.Outcome{}, err
	}
	o, err := c.outcome(now)
	switch {
	case err != nil:
	case o.News == fsm.NewsSoftFailed:
		o.News = fsm.NewsFailed
	case now.Status == "NEW":
		o.News, o.Failure = fsm.NewsSoftFailed, payment.NewFailure("not_started", "")
	}
	return o, err
}

// errListed is returned for a payment that there is and that can't be asked for: to call
// it missing would fail the attempt.
var errListed = errors.New("the bank lists a payment and does not know it")

// rank says how near a payment is to money that was taken. A customer whose bank
// asks is nearer than one who looks at the page.
func rank(status string) int {
	near := 2 * slices.Index([]fsm.News{
		fsm.NewsFailed, fsm.NewsSoftFailed, fsm.NewsActionRequired, fsm.NewsProcessing, fsm.NewsAuthorized, fsm.NewsSucceeded,
	}, news(status))
	if status == "3DS_CHECKING" {
		near++
	}
	return near
}
