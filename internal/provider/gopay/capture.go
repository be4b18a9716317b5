package gopay

import (
	"context"
	"net/url"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// part is a capture of less than the pre-authorised amount.
type part struct {
	Amount int64  `json:"amount"`
	Items  []item `json:"items"`
}

// Capture implements gateway.Provider (https://doc.gopay.com, "Pre-authorized payments"). GoPay releases the uncaptured
// rest. GoPay enables partial captures on request.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	var body any
	if !cp.Whole {
		body = part{cp.Money.Minor, []item{{"ITEM", "Captured part", cp.Money.Minor, 1}}}
	}
	refused, err := c.command(ctx, cp.ProviderPaymentID, "capture", url.Values{}, body, cp.Permit)
	if err != nil {
		return gateway.Outcome{}, err
	}
	now, err := c.stands(ctx, cp.ProviderPaymentID, refused, fsm.EventSucceeded)
	if refused == nil && now.Event == fsm.EventSucceeded {
		// GoPay does not document whether the payment shows the captured amount or the order's amount.
		now.Money = &cp.Money
	}
	return now, err
}

// Cancel implements gateway.Provider (https://doc.gopay.com, "Void authorization"). It releases a hold. GoPay refuses it
// for a payment that waits for its customer; such a payment times out.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	refused, err := c.command(ctx, cl.ProviderPaymentID, "void-authorization", url.Values{}, nil, cl.Permit)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return c.stands(ctx, cl.ProviderPaymentID, refused, fsm.EventFailed)
}

// stands looks a payment up after a command. If the command was accepted and the payment does not show the result yet,
// the outcome is processing. Refused is not set if the payment has the wanted state, because an earlier call then
// succeeded.
func (c *Client) stands(ctx context.Context, id string, refused *refusal, wanted fsm.Event) (gateway.Outcome, error) {
	now, err := c.Lookup(ctx, id)
	switch {
	case refused != nil:
		now.Refused = now.Event != wanted
		return now, err
	case err != nil, now.Event == fsm.EventAuthorized: // the command was accepted nevertheless
		now = gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: id}
	}
	return now, nil
}
