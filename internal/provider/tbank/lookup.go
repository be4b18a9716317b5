package tbank

import (
	"context"
	"errors"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Lookup implements gateway.Provider ("GetState").
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	a, err := c.state(ctx, id)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return c.outcome(a)
}

// state looks up a payment. The bank may report a declined payment as an error with a status.
func (c *Client) state(ctx context.Context, id string) (answer, error) {
	a, err := c.question(ctx, "GetState", request{PaymentID: id})
	switch {
	case err != nil:
		return answer{}, err
	case a.missing():
		return answer{}, gateway.ErrNoSuchPayment
	case !a.Success && a.Status == "":
		return answer{}, a.said()
	}
	return a, nil
}

// Find implements gateway.Provider ("CheckOrder"). Our reference is the bank's OrderId. An OrderId may have several
// payments, and the most advanced payment decides. A search means that the response to Init was lost, and with it the
// address of the payment's page. So a payment that is still new must be cancelled, and a failed payment can't be
// retried, unless the shop began the payment.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	a, err := c.question(ctx, "CheckOrder", request{OrderID: id.String()})
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case a.missing():
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	case !a.Success:
		return gateway.Outcome{}, a.said()
	case a.Payments == nil:
		return gateway.Outcome{}, errNameless
	case len(a.Payments) == 0:
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	best := a.Payments[0]
	for _, p := range a.Payments[1:] {
		if rank(p.Status) > rank(best.Status) {
			best = p
		}
	}
	now, err := c.state(ctx, string(best.PaymentID))
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return gateway.Outcome{}, errListed
	case err != nil:
		return gateway.Outcome{}, err
	}
	o, err := c.outcome(now)
	switch {
	case err != nil:
	case o.Event == fsm.EventSoftFailed:
		o.Event = fsm.EventFailed
	case now.Status == "NEW":
		o.Event, o.Failure = fsm.EventSoftFailed, payment.NewFailure("not_started", "")
	}
	return o, err
}

// errListed is returned if a listed payment can't be looked up. If it counted as missing, the attempt would fail.
var errListed = errors.New("T-Bank lists a payment and then does not find it")

// rank returns how near a payment is to captured money. A payment in 3-D Secure is nearer than a payment on the page.
func rank(status string) int {
	near := 2 * slices.Index([]fsm.Event{
		fsm.EventFailed, fsm.EventSoftFailed, fsm.EventActionRequired, fsm.EventProcessing, fsm.EventAuthorized, fsm.EventSucceeded,
	}, standing(status))
	if status == "3DS_CHECKING" {
		near++
	}
	return near
}
