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
	case "charge.dispute.created":
		return stripeObject.disputed
	case "charge.dispute.funds_withdrawn":
		return stripeObject.chargeback
	case "charge.dispute.funds_reinstated":
		return stripeObject.chargebackReversed
	case "charge.dispute.updated":
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

// chargeback and chargebackReversed read when a dispute moves money. A loss may still
// turn, so that what has come back does not depend on the dispute's status.
func (o stripeObject) chargeback() (Kind, *integer) { return KindChargeback, o.Amount }

func (o stripeObject) chargebackReversed() (Kind, *integer) { return KindChargebackReversed, o.Amount }

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
	if o.Captured == nil || !*o.Captured {
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

// chargeRefunded reads the total paid back so far, which is 0 of a hold that was
// released without ever being captured.
func (o stripeObject) chargeRefunded() (Kind, *integer) {
	total := o.AmountRefunded
	switch {
	case o.Captured != nil && !*o.Captured:
		total = new(integer)
	case o.Amount != nil && o.AmountCaptured != nil && total != nil:
		refunded := *total - o.countedRelease()
		total = &refunded
	}
	return KindRefundSucceeded, total
}

// stripeReleasesApart is the version of Stripe's API since which what a partial capture
// releases is not refunded any more
// (https://docs.stripe.com/changelog/basil/2025-03-31/remove-refund-from-partial-capture-and-payment-cancellation-flow).
const stripeReleasesApart = "2025-03-31"

// countedRelease is how much of amount_refunded was never captured. Whether what a
// partial capture released is in it is decided by the API version of the call that
// captured, which no event tells. The amounts do where the total is less than what
// was released, or more than what was captured. In between the event's version is
// taken for the call's. Where that is wrong for an old one, the total is too low,
// and the events of the refunds themselves make up for it; the other way round it
// is too high, if somebody captures by an old version beside a new endpoint.
func (o stripeObject) countedRelease() integer {
	released := max(0, *o.Amount-*o.AmountCaptured)
	if *o.AmountRefunded < released || *o.AmountRefunded <= *o.AmountCaptured && o.version >= stripeReleasesApart {
		return 0
	}
	return released
}

// refund reads a refund by its status; one that this version does not know is
// still under way. That of a hold which ran out, as Stripe made them before
// stripeReleasesApart, is of money that was never taken.
func (o stripeObject) refund() (Kind, *integer) {
	if o.Reason == "expired_uncaptured_charge" {
		return KindIgnored, nil
	}
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

// disputeClosed reads the end of a dispute. One that is lost moves no money then:
// it names what was withdrawn before, of which an endpoint may not have been told.
func (o stripeObject) disputeClosed() (Kind, *integer) {
	if o.Status == "lost" {
		return o.chargeback()
	}
	return o.disputeMoved()
}
