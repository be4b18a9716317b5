package stripe

import (
	"context"
	"net/url"
	"strings"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// sessionPrefix is the prefix of the ids of Checkout sessions. A session is a page that creates payment intents
// (https://docs.stripe.com/api/checkout/sessions/object).
const sessionPrefix = "cs_"

func sessionPath(id string) string { return "/v1/checkout/sessions/" + url.PathEscape(id) }

// lookupSession returns the state of a session's payment, or of the session if it has no payment yet.
func (c *Client) lookupSession(ctx context.Context, id string) (gateway.Outcome, error) {
	var found stripe.CheckoutSession
	if err := c.get(ctx, sessionPath(id), &stripe.CheckoutSessionRetrieveParams{}, &found); err != nil {
		return gateway.Outcome{}, err
	}
	return c.inSession(ctx, &found)
}

func (c *Client) inSession(ctx context.Context, s *stripe.CheckoutSession) (gateway.Outcome, error) {
	switch {
	case s.Object != "checkout.session" || s.ID == "":
		return gateway.Outcome{}, errNameless
	case s.PaymentIntent == nil || s.PaymentIntent.ID == "":
		return sessionOutcome(s), nil
	}
	o, err := c.Lookup(ctx, s.PaymentIntent.ID)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o.Container, o.References = s.ID, append(o.References, s.ID)
	if s.Status == stripe.CheckoutSessionStatusOpen {
		o.PageOpen = o.Event == fsm.EventSoftFailed
	}
	return o, nil
}

// sessionOutcome maps a session without a payment by its status.
func sessionOutcome(s *stripe.CheckoutSession) gateway.Outcome {
	o := gateway.Outcome{Container: s.ID, References: []string{s.ID}, Event: fsm.EventProcessing, Live: &s.Livemode}
	switch s.Status {
	case stripe.CheckoutSessionStatusOpen:
		o.Event, o.NextAction = fsm.EventActionRequired, payment.Redirect(s.URL)
	case stripe.CheckoutSessionStatusExpired:
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("expired", "")
	case stripe.CheckoutSessionStatusComplete:
	}
	return o
}

// expire expires a session, and with it the payment that the customer has begun and not finished
// (https://docs.stripe.com/api/checkout/sessions/expire). If the session is not open any more, its payment decides the
// outcome.
func (c *Client) expire(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	var ended stripe.CheckoutSession
	refused, err := c.post(ctx, sessionPath(cl.Container)+"/expire", onceKey(cl), cl.Permit, &stripe.CheckoutSessionExpireParams{}, &ended)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil && ended.ID == cl.Container:
		return canceledSession(&ended), nil
	case refused == nil:
		return gateway.Outcome{}, errNameless
	case missing(refused):
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	now, err := c.lookupSession(ctx, cl.Container)
	now.Refused = err == nil && now.Event != fsm.EventFailed // an earlier call expired it
	return now, err
}

// expirePayment expires the page of a payment, and returns the payment's state after that.
func (c *Client) expirePayment(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	ended, err := c.expire(ctx, cl)
	if err != nil || ended.ProviderPaymentID == cl.ProviderPaymentID {
		return ended, err
	}
	o, err := c.standing(ctx, cl.ProviderPaymentID)
	o.Refused = ended.Refused && o.Event != fsm.EventFailed
	return o, err
}

// canceledSession returns the outcome of a session that this account has expired.
func canceledSession(s *stripe.CheckoutSession) gateway.Outcome {
	o := sessionOutcome(s)
	if o.Event == fsm.EventFailed {
		o.Failure = payment.NewFailure("canceled", "")
	}
	return o
}

// ofSession reports whether only the session can end the payment: Stripe "can't directly cancel the PaymentIntent for a
// Checkout Session" (https://docs.stripe.com/api/payment_intents/cancel).
func ofSession(cl gateway.Cancel, o gateway.Outcome) bool {
	open := o.Event == fsm.EventActionRequired || o.Event == fsm.EventSoftFailed
	return o.Refused && open && strings.HasPrefix(cl.Container, sessionPrefix)
}
