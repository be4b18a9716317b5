package adyen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// detailsRequest is the body of POST /payments/details
// (https://docs.adyen.com/api-explorer/Checkout/72/post/payments/details).
type detailsRequest struct {
	Details     json.RawMessage `json:"details"`
	PaymentData string          `json:"paymentData,omitempty"`
}

var (
	errDetails      = errors.New("the details are no JSON object")
	errAnotherOrNot = errors.New("the answer does not name the payment")
)

// Complete implements gateway.Provider. The details come from Adyen's component (its state.data, or the details in it),
// or are the parameters of the return_url, such as redirectResult. They name the payment. Details of another payment are
// refused.
func (c *Client) Complete(ctx context.Context, cp gateway.Completion) (gateway.Outcome, error) {
	body, err := detailsOf(cp.Details)
	if err != nil {
		return gateway.Outcome{}, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, err)
	}
	var got paymentResponse
	refused, err := c.post(ctx, "/payments/details", cp.IdempotencyKey, cp.Permit, body, http.StatusOK, &got)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil && refused.turnedAway():
		return gateway.Outcome{}, refused.err()
	case refused != nil:
		return notCompleted(refused.Code), nil
	case got.MerchantReference != "" && got.MerchantReference != cp.Attempt.String():
		return notCompleted("another_payment"), nil
	case got.waits():
		return got.waiting(), nil
	case got.MerchantReference == "":
		return gateway.Outcome{}, errAnotherOrNot
	}
	return c.outcome(got)
}

// notCompleted returns the outcome of a call whose details were refused. The payment continues to wait.
func notCompleted(code string) gateway.Outcome {
	return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", code)}
}

// detailsOf parses {details, paymentData}, or the details alone.
func detailsOf(raw json.RawMessage) (detailsRequest, error) {
	var body struct {
		Details     json.RawMessage `json:"details"`
		PaymentData string          `json:"paymentData"`
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || len(object) == 0 {
		return detailsRequest{}, errDetails
	}
	if object["details"] == nil {
		return detailsRequest{Details: raw}, nil
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return detailsRequest{}, errDetails
	}
	return detailsRequest(body), nil
}
