package comgate

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

var errPart = errors.New("comgate captures all of a hold")

// Capture implements gateway.Provider (comgate-node, capturePreauth.ts). It sends no partial capture, see Capabilities.
// It then looks the payment up, even after a refusal, because an earlier call may have captured it.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	amount, err := units(cp.Money)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !cp.Whole:
		return gateway.Outcome{}, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, errPart)
	}
	form := url.Values{"transId": {cp.ProviderPaymentID}, "amount": {strconv.FormatInt(amount, 10)}}
	a, err := c.command(ctx, "capturePreauth", form, cp.Permit)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !a.ok() && !a.refuses():
		return gateway.Outcome{}, a.failure()
	}
	now, err := c.Lookup(ctx, cp.ProviderPaymentID)
	now.Refused = err == nil && !a.ok() && now.Event != fsm.EventSucceeded
	return now, err
}

// errMoved is returned if the payment changed between its lookup and the cancel. The next cancel looks it up again.
var errMoved = errors.New("the payment has changed since it was looked up")

// Cancel implements gateway.Provider. It looks the payment up. It cancels a pending payment (comgate-node, cancel.ts),
// or releases a hold (cancelPreauth.ts). Neither call refunds, and Comgate refuses both for a paid payment.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	found, err := c.status(ctx, cl.ProviderPaymentID, &cl.Permit)
	if err != nil {
		return gateway.Outcome{}, err
	}
	before, err := outcome(cl.ProviderPaymentID, found)
	if err != nil {
		return gateway.Outcome{}, err
	}
	method := map[fsm.Event]string{fsm.EventActionRequired: "cancel", fsm.EventAuthorized: "cancelPreauth"}[before.Event]
	if method == "" {
		before.Refused = before.Event != fsm.EventFailed
		return before, nil
	}
	a, err := c.command(ctx, method, url.Values{"transId": {cl.ProviderPaymentID}}, cl.Permit)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !a.ok() && !a.refuses():
		return gateway.Outcome{}, a.failure()
	}
	now, err := c.Lookup(ctx, cl.ProviderPaymentID)
	if err == nil && !a.ok() && now.Event != before.Event && now.Event != fsm.EventFailed && now.Event != fsm.EventSucceeded {
		return gateway.Outcome{}, errMoved
	}
	now.Refused = err == nil && !a.ok() && now.Event != fsm.EventFailed
	return now, err
}
