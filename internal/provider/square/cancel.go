package square

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Cancel implements gateway.Provider. If the charge's answer was lost, the payment has no id, and Cancel cancels it by
// the charge's key.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	if err := kit.EndsNoContainer(cl); err != nil {
		return gateway.Outcome{}, err
	}
	if cl.ProviderPaymentID == "" {
		return c.cancelByKey(ctx, cl)
	}
	return c.move(ctx, cl.ProviderPaymentID, "cancel", cl.Permit, kit.NoBody, func(o gateway.Outcome) bool { return o.Event == fsm.EventFailed })
}

// lostCharge is our limit for the time that an earlier charge may still be under way. Such a charge would create the
// payment after the cancel by key. Square documents no time.
const lostCharge = 2 * time.Minute

type keyRequest struct {
	IdempotencyKey string `json:"idempotency_key"`
}

var errByKey = errors.New("a payment that is not known was not cancelled by its key")

// cancelByKey cancels the payment that the attempt's charge created, if it created one
// (https://developer.squareup.com/reference/square/payments-api/cancel-payment-by-idempotency-key). After a success
// there is no payment, unless the charge is still under way. A refusal may mean that the payment is completed, so the
// outcome is unknown. Square does not document that it refuses a completed payment.
func (c *Client) cancelByKey(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	charge := payment.Operation{AttemptID: cl.Attempt, Kind: payment.OperationCharge}
	_, refused, err := c.command(ctx, http.MethodPost, "/v2/payments/cancel", cl.Permit, keyRequest{charge.Key()})
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil:
		return gateway.Outcome{}, fmt.Errorf("%w: %w", errByKey, refused.err())
	case cl.Quiet < lostCharge:
		return gateway.Outcome{Event: fsm.EventProcessing}, nil
	}
	return gateway.Outcome{Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")}, nil
}
