package razorpay

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// returned is the result that the script returns after the customer has paid
// (https://razorpay.com/docs/payments/payment-gateway/web-integration/standard/integration-steps/, "Verify Payment
// Signature").
type returned struct {
	OrderID   string `json:"razorpay_order_id"`
	PaymentID string `json:"razorpay_payment_id"`
	Signature string `json:"razorpay_signature"`
}

var errReturned = errors.New("not what Razorpay's script returned for this payment")

func unfit() error { return fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, errReturned) }

// read returns gateway.ErrUnsupportedRequest if Razorpay's signature is missing or wrong.
func (r *returned) read(details json.RawMessage, secret string) error {
	if json.Unmarshal(details, r) != nil || !isOrder(r.OrderID) || !isPayment(r.PaymentID) || secret == "" {
		return unfit()
	}
	given, err := hex.DecodeString(r.Signature)
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(r.OrderID + "|" + r.PaymentID))
	if err != nil || !hmac.Equal(given, mac.Sum(nil)) {
		return unfit()
	}
	return nil
}

// Complete implements gateway.Provider. It looks up the payment in the script's result and captures it if it is only
// authorized. It sends nothing if the result is not signed or belongs to another payment's order.
func (c *Client) Complete(ctx context.Context, cp gateway.Completion) (gateway.Outcome, error) {
	var r returned
	if err := r.read(cp.Details, c.secret); err != nil {
		return gateway.Outcome{}, err
	}
	if err := c.belongs(ctx, r, cp); err != nil {
		return gateway.Outcome{}, err
	}
	found, err := c.payment(ctx, r.PaymentID, &cp.Permit)
	switch {
	case err != nil:
		return gateway.Outcome{}, kit.NotSent(missing(err))
	case found.OrderID != r.OrderID:
		return gateway.Outcome{}, unfit()
	case found.Status == "authorized" && cp.Capture == payment.CaptureAutomatic:
		return c.capture(ctx, found, cp)
	}
	return found.of(r.OrderID)
}

// belongs returns gateway.ErrUnsupportedRequest if the order is not the completion's order. The completion may name a payment of the
// order in the place of the order.
func (c *Client) belongs(ctx context.Context, r returned, cp gateway.Completion) error {
	id := cmp.Or(cp.Container, cp.ProviderPaymentID)
	if isPayment(id) {
		try, err := c.payment(ctx, id, &cp.Permit)
		if err != nil {
			return kit.NotSent(missing(err))
		}
		id = try.OrderID
	}
	if id != r.OrderID {
		return unfit()
	}
	return nil
}

func (c *Client) payment(ctx context.Context, id string, l *gateway.Permit) (paid, error) {
	var found paid
	err := c.api.Get(ctx, paymentPath(id), l, &found)
	if err == nil && (found.Entity != "payment" || found.ID != id) {
		err = errNameless
	}
	return found, err
}

type captureRequest struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// capture captures an authorized payment once (https://razorpay.com/docs/api/payments/capture/). After a refusal, it
// looks the payment up and returns its state.
func (c *Client) capture(ctx context.Context, p paid, cp gateway.Completion) (gateway.Outcome, error) {
	units, err := amount(cp.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	var taken paid
	refused, err := c.api.Post(ctx, paymentPath(p.ID)+"/capture", nil, cp.Permit, captureRequest{units, string(cp.Money.Currency)}, &taken)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return taken.of(p.OrderID)
	case refused.turnedAway():
		return gateway.Outcome{}, refused
	}
	now, err := c.payment(ctx, p.ID, nil)
	if err != nil {
		return gateway.Outcome{}, missing(err)
	}
	o, err := now.of(p.OrderID)
	o.Refused = o.Event == fsm.EventAuthorized
	if o.Refused {
		o.Failure = payment.NewFailure("provider_rejected", refused.code())
	}
	return o, err
}

var errGone = errors.New("the provider names a payment that it does not know")

func isMissing(err error) bool { return errors.Is(err, gateway.ErrNoSuchPayment) }

// missing replaces gateway.ErrNoSuchPayment by an error that does not mean "there is no payment".
func missing(err error) error {
	if isMissing(err) {
		return errGone
	}
	return err
}
