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
	"github.com/paylatch/paylatch/internal/provider/call"
)

// Cancel implements gateway.Provider. A payment without an id, of which the answer was lost, is cancelled by
// the key of its charge.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	if err := call.EndsNoContainer(cl); err != nil {
		return gateway.Outcome{}, err
	}
	if cl.ProviderPaymentID == "" {
		return c.cancelByKey(ctx, cl)
	}
	return c.move(ctx, cl.ProviderPaymentID, "cancel", cl.Permit, func(o gateway.Outcome) bool { return o.News == fsm.NewsFailed })
}

// lostCharge is how long a charge may be under way that was sent before a cancel by its key: it would make
// the payment after that. Square documents no time.
const lostCharge = 2 * time.Minute

type keyRequest struct {
	IdempotencyKey string `json:"idempotency_key"`
}

var errByKey = errors.New("a payment that is not known was not cancelled by its key")

// cancelByKey cancels the payment that the attempt's charge made, if it made one
// (https://developer.squareup.com/reference/square/payments-api/cancel-payment-by-idempotency-key): after a
// success there is none, unless the charge still is under way. A refusal may be one of a completed payment,
// and leaves it open; that a completed one is refused is not documented.
func (c *Client) cancelByKey(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	charge := payment.Operation{AttemptID: cl.Attempt, Kind: payment.OperationCharge}
	_, refused, err := c.command(ctx, http.MethodPost, "/v2/payments/cancel", cl.Permit, keyRequest{charge.Key()})
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil:
		return gateway.Outcome{}, fmt.Errorf("%w: %w", errByKey, refused.err())
	case cl.Quiet < lostCharge:
		return gateway.Outcome{News: fsm.NewsProcessing}, nil
	}
	return gateway.Outcome{News: fsm.NewsFailed, Failure: payment.NewFailure("canceled", "")}, nil
}
