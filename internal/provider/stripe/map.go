package stripe

import (
	"errors"
	"fmt"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	hooks "github.com/paylatch/paylatch/webhooks/stripe"
)

// outcome maps a payment intent by its status
// (https://docs.stripe.com/payments/paymentintents/lifecycle). An unrecognized status
// is processing.
func (c *Client) outcome(pi *stripe.PaymentIntent) (gateway.Outcome, error) {
	if pi.Object != "payment_intent" || pi.ID == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{ProviderPaymentID: pi.ID, Event: fsm.EventProcessing, Live: &pi.Livemode, Review: review(pi.Review)}
	if pi.LatestCharge != nil && pi.LatestCharge.ID != "" {
		o.References = []string{pi.LatestCharge.ID}
	}
	var err error
	switch pi.Status {
	case stripe.PaymentIntentStatusRequiresAction:
		o.Event, o.NextAction = fsm.EventActionRequired, action(pi, c.connected)
	case stripe.PaymentIntentStatusRequiresCapture:
		if pi.AmountReceived > 0 {
			return captured(o, pi)
		}
		o.Event, o.Saved = fsm.EventAuthorized, saved(pi)
		o.Money, err = money(pi.AmountCapturable, pi.Currency)
	case stripe.PaymentIntentStatusSucceeded:
		return captured(o, pi)
	case stripe.PaymentIntentStatusRequiresPaymentMethod, stripe.PaymentIntentStatusRequiresConfirmation:
		o.Event, o.Failure = fsm.EventSoftFailed, failureOf(pi.LastPaymentError)
		if untried(pi) {
			o.Event, o.Failure = fsm.EventActionRequired, nil
		}
	case stripe.PaymentIntentStatusCanceled:
		if pi.AmountReceived > 0 { // the rest of its hold was released
			return captured(o, pi)
		}
		reason := string(pi.CancellationReason)
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure(hooks.CancellationCode(reason), reason)
	case stripe.PaymentIntentStatusProcessing:
	}
	return o, err
}

// review maps the review of a payment; nil if there is none. A review that is not expanded has only its id: it was open when the payment
// first named it.
func review(r *stripe.Review) *payment.ReviewReport {
	if r == nil || r.ID == "" {
		return nil
	}
	status := hooks.ReviewStatus(r.Open || r.Object == "", string(r.ClosedReason))
	return &payment.ReviewReport{ID: r.ID, Status: payment.ReviewStatus(status)}
}

// multicapture requests several captures of a card's hold (https://docs.stripe.com/payments/multicapture). Between them the
// payment intent is still requires_capture, the only status in which it can be captured.
const multicapture = stripe.PaymentIntentPaymentMethodOptionsCardRequestMulticaptureIfAvailable

// captured completes the outcome of a payment intent that has received money. What is left of a hold with several
// captures, and can't be captured any more, was released.
func captured(o gateway.Outcome, pi *stripe.PaymentIntent) (gateway.Outcome, error) {
	var err error
	o.Event, o.Saved = fsm.EventSucceeded, saved(pi)
	if o.Money, err = money(pi.AmountReceived, pi.Currency); err != nil {
		return o, err
	}
	several := pi.PaymentMethodOptions != nil && pi.PaymentMethodOptions.Card != nil && pi.PaymentMethodOptions.Card.RequestMulticapture == multicapture
	if rest := pi.Amount - pi.AmountReceived; several && rest > 0 && pi.Status != stripe.PaymentIntentStatusRequiresCapture {
		released, err := money(rest, pi.Currency)
		if err != nil {
			return o, err
		}
		o.Movements = append(o.Movements, payment.MovementReport{Kind: payment.MovementRelease, Money: *released})
	}
	return o, nil
}

// untried reports whether the customer has not chosen a payment method yet, in a form that the shop shows. No method was
// declined so far.
func untried(pi *stripe.PaymentIntent) bool {
	return pi.Status == stripe.PaymentIntentStatusRequiresPaymentMethod && pi.LastPaymentError == nil
}

func refundOutcome(r *stripe.Refund) (gateway.RefundOutcome, error) {
	if r.Object != "refund" || r.ID == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	o := gateway.RefundOutcome{ProviderRefundID: r.ID, Reference: r.Metadata["refund_id"], Event: fsm.EventProcessing}
	switch r.Status {
	case stripe.RefundStatusSucceeded:
		o.Event = fsm.EventSucceeded
	case stripe.RefundStatusFailed, stripe.RefundStatusCanceled:
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("provider_rejected", string(r.FailureReason))
	case stripe.RefundStatusPending, stripe.RefundStatusRequiresAction:
	}
	var err error
	o.Money, err = money(r.Amount, r.Currency)
	return o, err
}

var errThirdDecimal = errors.New("stripe takes no third decimal but 0")

// amount returns the amount in Stripe's units. It returns an error if the units can't express the amount, or if Stripe
// refuses it: the third decimal of a currency must be 0 (https://docs.stripe.com/currencies#three-decimal).
func amount(m payment.Money) (int64, error) {
	units, err := hooks.Amount(m.Wire())
	if err == nil && threeDecimals(m.Currency) && units%10 != 0 {
		err = errThirdDecimal
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, err)
	}
	return units, nil
}

func threeDecimals(c payment.Currency) bool {
	text, known := payment.Money{Minor: 1, Currency: c}.Wire().Decimal()
	return known && text == "0.001"
}

func money(units int64, currency stripe.Currency) (*payment.Money, error) {
	m, err := hooks.Money(units, string(currency))
	if err != nil {
		return nil, err
	}
	return &payment.Money{Minor: m.Minor, Currency: payment.Currency(m.Currency)}, nil
}

func failureOf(e *stripe.Error) *payment.Failure {
	if e == nil {
		return payment.NewFailure("provider_rejected", "")
	}
	return payment.NewFailure(hooks.FailureCode(string(e.Type), string(e.Code), string(e.DeclineCode)))
}
