package checkout

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// inParts reports whether the payment's hold is captured in several parts, by our mark.
func (p paid) inParts() bool {
	var marks map[string]any
	return json.Unmarshal(p.Metadata, &marks) == nil && marks[inParts] == "true"
}

// withParts names the captures of a payment with a hold that is captured in several parts, and adds the released amount.
// The last declined capture is a refusal. An action without a result is under way.
func (c *Client) withParts(ctx context.Context, o *gateway.Outcome, of paid) error {
	all, err := c.actions(ctx, of.ID)
	if err != nil {
		return err
	}
	open := false
	for _, d := range slices.Backward(all) { // the oldest first
		switch {
		case d.Type != "Capture":
			continue
		case d.Approved == nil:
			open = true
			continue
		case !*d.Approved:
			o.Refusal = &payment.RefusalReport{Kind: payment.OperationCapture, ProviderRef: d.ID, Reference: d.Reference}
			continue
		}
		sum, err := digits.Money(d.Amount, of.Currency)
		if err != nil {
			return err
		}
		o.Movements = append(o.Movements, payment.MovementReport{Kind: payment.MovementCapture, ID: d.ID, Money: *sum, Reference: d.Reference})
	}
	if open {
		return nil // what it takes may count as not capturable already
	}
	released, err := of.released()
	if err == nil && released != nil {
		o.Movements = append(o.Movements, payment.MovementReport{Kind: payment.MovementRelease, Money: *released})
	}
	return err
}

// released is the rest of the hold of a captured payment that can't be captured any more; nil if there is none.
func (p paid) released() (*payment.Money, error) {
	b := p.Balances
	if b == nil || b.Captured == 0 || b.Capturable == nil || *b.Capturable > 0 || b.Captured >= b.Authorized {
		return nil, nil
	}
	return digits.Money(b.Authorized-b.Captured, p.Currency)
}
