package webhooks

import "cmp"

// stripeReading returns how to read the object of an event type: to its kind and
// to the amount that the news is about; nil for a type that is none of ours
// (https://docs.stripe.com/api/events/types).
func stripeReading(eventType string) func(stripeObject) (Kind, *integer) {
	switch eventType {
	case "payment_intent.processing", "payment_intent.partially_funded", "charge.pending":
		return stripeObject.processing
	case "payment_intent.requires_action":
		return stripeObject.actionRequired
	case "payment_intent.amount_capturable_updated":
		return stripeObject.capturable
	case "payment_intent.succeeded":
		return stripeObject.received
	case "charge.succeeded", "charge.captured":
		return stripeObject.charged
	case "payment_intent.payment_failed", "charge.failed", "checkout.session.async_payment_failed":
		return stripeObject.softFailed
	case "payment_intent.canceled", "charge.expired", "checkout.session.expired":
		return stripeObject.failed
	case "checkout.session.completed", "checkout.session.async_payment_succeeded":
		return stripeObject.sessionCompleted
	case "charge.refunded":
		return stripeObject.chargeRefunded
	case "refund.created", "refund.updated", "refund.failed", "charge.refund.updated":
		return stripeObject.refund
	case "charge.dispute.created", "charge.dispute.funds_withdrawn":
		return stripeObject.disputed
	case "charge.dispute.updated", "charge.dispute.funds_reinstated":
		return stripeObject.disputeMoved
	case "charge.dispute.closed":
		return stripeObject.disputeClosed
	default:
		return nil
	}
}

func (o stripeObject) processing() (Kind, *integer)     { return KindProcessing, o.Amount }
func (o stripeObject) actionRequired() (Kind, *integer) { return KindActionRequired, o.Amount }
func (o stripeObject) received() (Kind, *integer) {
	return KindSucceeded, cmp.Or(o.AmountReceived, o.Amount)
}

func (o stripeObject) softFailed() (Kind, *integer) {
	return KindSoftFailed, cmp.Or(o.Amount, o.AmountTotal)
}

func (o stripeObject) failed() (Kind, *integer)   { return KindFailed, cmp.Or(o.Amount, o.AmountTotal) }
func (o stripeObject) disputed() (Kind, *integer) { return KindDisputed, o.Amount }

// capturable reads a hold. Stripe tells of one that has been captured or
// released as well, with nothing left to capture: that says nothing new.
func (o stripeObject) capturable() (Kind, *integer) {
	amount := cmp.Or(o.AmountCapturable, o.Amount)
	if amount != nil && *amount == 0 {
		return KindIgnored, nil
	}
	return KindAuthorized, amount
}

// charged reads a charge that went through: a hold until it is captured.
func (o stripeObject) charged() (Kind, *integer) {
	if !o.Captured {
		return KindAuthorized, o.Amount
	}
	return KindSucceeded, cmp.Or(o.AmountCaptured, o.Amount)
}

// sessionCompleted reads the end of a Checkout session, which with a slow
// payment method comes before the money.
func (o stripeObject) sessionCompleted() (Kind, *integer) {
	if o.PaymentStatus != "paid" {
		return KindProcessing, o.AmountTotal
	}
	return KindSucceeded, o.AmountTotal
}

// chargeRefunded reads the total paid back so far. Stripe counts as refunded,
// too, what was held and then released without ever being taken; that part is
// taken off, so that a cancelled hold is a total of 0 and not money lost.
func (o stripeObject) chargeRefunded() (Kind, *integer) {
	if o.Amount == nil || o.AmountCaptured == nil || o.AmountRefunded == nil {
		return KindRefundSucceeded, o.AmountRefunded
	}
	released := max(0, *o.Amount-*o.AmountCaptured)
	total := max(0, *o.AmountRefunded-released)
	return KindRefundSucceeded, &total
}

// refund reads a refund by its status; one that this version does not know is
// still under way.
func (o stripeObject) refund() (Kind, *integer) {
	switch o.Status {
	case "succeeded":
		return KindRefundSucceeded, o.Amount
	case "failed", "canceled":
		return KindRefundFailed, o.Amount
	default:
		return KindRefundPending, o.Amount
	}
}

// disputeMoved reads news of a dispute between its opening and its end. While it
// is open, an inquiry included, the money is at stake; once it has gone the
// merchant's way nothing is.
func (o stripeObject) disputeMoved() (Kind, *integer) {
	switch o.Status {
	case "won", "warning_closed", "prevented":
		return KindIgnored, nil
	default:
		return KindDisputed, o.Amount
	}
}

// disputeClosed reads the end of a dispute. It is the one event that says for
// good that the money is gone, so that a loss is counted once.
func (o stripeObject) disputeClosed() (Kind, *integer) {
	if o.Status == "lost" {
		return KindReversed, o.Amount
	}
	return o.disputeMoved()
}
