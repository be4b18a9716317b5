package stripe

import (
	"cmp"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// readingOf returns how to read the object of an event type: to its kind and to the amount that the event is about; nil
// for a type that is none of ours (https://docs.stripe.com/api/events/types).
func readingOf(eventType string) func(objectData) (webhooks.Kind, *read.Integer) {
	switch eventType {
	case "payment_intent.processing", "payment_intent.partially_funded", "charge.pending":
		return objectData.processing
	case "payment_intent.requires_action":
		return objectData.actionRequired
	case "payment_intent.amount_capturable_updated":
		return objectData.capturable
	case "payment_intent.succeeded":
		return objectData.received
	case "charge.succeeded", "charge.captured":
		return objectData.charged
	case "payment_intent.payment_failed", "charge.failed", "checkout.session.async_payment_failed":
		return objectData.softFailed
	case "payment_intent.canceled", "charge.expired", "checkout.session.expired":
		return objectData.failed
	case "checkout.session.completed", "checkout.session.async_payment_succeeded":
		return objectData.sessionCompleted
	case "charge.refunded":
		return objectData.chargeRefunded
	case "refund.created", "refund.updated", "refund.failed", "charge.refund.updated":
		return objectData.refund
	case "charge.dispute.created", "charge.dispute.updated":
		return objectData.disputed
	case "charge.dispute.funds_withdrawn":
		return objectData.chargeback
	case "charge.dispute.funds_reinstated":
		return objectData.chargebackReversed
	case "charge.dispute.closed":
		return objectData.disputeClosed
	case "review.opened", "review.closed":
		return objectData.reviewed
	default:
		return nil
	}
}

// reviewed reads a review of Radar (https://docs.stripe.com/api/radar/reviews), which moves no money.
func (o objectData) reviewed() (webhooks.Kind, *read.Integer) { return webhooks.KindReview, nil }

// review returns the review that the object is, or that a payment intent or a charge names. Stripe names it there once it is open, and
// its end is an event of its own.
func (o objectData) review() *webhooks.Review {
	switch {
	case o.Object == "review":
		return &webhooks.Review{ID: o.ID, Status: ReviewStatus(o.Open == "true", string(cmp.Or(o.ClosedReason, o.Reason)))}
	case o.Review != "":
		return &webhooks.Review{ID: string(o.Review), Status: webhooks.ReviewOpen}
	}
	return nil
}

func (o objectData) processing() (webhooks.Kind, *read.Integer) {
	return webhooks.KindProcessing, o.Amount
}

func (o objectData) actionRequired() (webhooks.Kind, *read.Integer) {
	return webhooks.KindActionRequired, o.Amount
}

func (o objectData) received() (webhooks.Kind, *read.Integer) {
	return webhooks.KindSucceeded, cmp.Or(o.AmountReceived, o.Amount)
}

func (o objectData) softFailed() (webhooks.Kind, *read.Integer) {
	return webhooks.KindSoftFailed, cmp.Or(o.Amount, o.AmountTotal)
}

func (o objectData) failed() (webhooks.Kind, *read.Integer) {
	return webhooks.KindFailed, cmp.Or(o.Amount, o.AmountTotal)
}

// disputed reads a dispute that moves no money: while it is open, an inquiry included, the money is at stake.
func (o objectData) disputed() (webhooks.Kind, *read.Integer) { return webhooks.KindDisputed, o.Amount }

// chargeback and chargebackReversed read a dispute's money movements. A lost dispute may still be won, so that returned
// money does not depend on the dispute's status.
func (o objectData) chargeback() (webhooks.Kind, *read.Integer) {
	return webhooks.KindChargeback, o.Amount
}

func (o objectData) chargebackReversed() (webhooks.Kind, *read.Integer) {
	return webhooks.KindChargebackReversed, o.Amount
}

// capturable reads a hold. Stripe reports one that has been captured or released as well, with nothing left to capture:
// that means nothing. One of several captures leaves some of the hold.
func (o objectData) capturable() (webhooks.Kind, *read.Integer) {
	amount := cmp.Or(o.AmountCapturable, o.Amount)
	if amount != nil && *amount == 0 {
		return webhooks.KindIgnored, nil
	}
	if o.AmountReceived != nil && *o.AmountReceived != 0 {
		return webhooks.KindSucceeded, o.AmountReceived
	}
	return webhooks.KindAuthorized, amount
}

// charged reads a charge that went through: a hold until it is captured.
func (o objectData) charged() (webhooks.Kind, *read.Integer) {
	switch o.Captured {
	case "", "false":
		return webhooks.KindAuthorized, o.Amount
	case "true":
		return webhooks.KindSucceeded, cmp.Or(o.AmountCaptured, o.Amount)
	default:
		return webhooks.KindUnreadable, nil
	}
}

// sessionCompleted reads the end of a Checkout session, which with a slow payment method comes before the money.
func (o objectData) sessionCompleted() (webhooks.Kind, *read.Integer) {
	if o.PaymentStatus != "paid" {
		return webhooks.KindProcessing, o.AmountTotal
	}
	return webhooks.KindSucceeded, o.AmountTotal
}

// chargeRefunded reads the total refunded so far, which is 0 of a hold that was released without ever being captured.
func (o objectData) chargeRefunded() (webhooks.Kind, *read.Integer) {
	total := o.AmountRefunded
	switch {
	case o.Captured == "false":
		total = new(read.Integer)
	case o.Amount != nil && o.AmountCaptured != nil && total != nil:
		refunded := read.Less(*total, o.countedRelease())
		total = &refunded
	}
	return webhooks.KindRefundSucceeded, total
}

// releasesApart is the first version of Stripe's API that does not report the release of a partial capture as a refund
// (https://docs.stripe.com/changelog/basil/2025-03-31/remove-refund-from-partial-capture-and-payment-cancellation-flow).
const releasesApart = "2025-03-31"

// countedRelease returns the part of amount_refunded that was never captured. The API version of the capturing call decides
// whether amount_refunded includes the release of a partial capture. No event contains that version. If amount_refunded is
// less than the released amount or more than the captured amount, the amounts decide. In between the event's version stands
// for the call's. If that is wrong for an old event version, the total is too low, and the refunds' own events make up for
// it. If an old version captures beside a new endpoint, the total is too high.
func (o objectData) countedRelease() read.Integer {
	released := max(0, read.Less(*o.Amount, *o.AmountCaptured)) // 0 where one of them is unreadable
	if *o.AmountRefunded < released || *o.AmountRefunded <= *o.AmountCaptured && o.version >= releasesApart {
		return 0
	}
	return released
}

// refund reads a refund by its status; an unfamiliar one is still under way. That of a hold which ran out, as Stripe
// made them before releasesApart, is of money that was never taken.
func (o objectData) refund() (webhooks.Kind, *read.Integer) {
	if o.Reason == "expired_uncaptured_charge" {
		return webhooks.KindIgnored, nil
	}
	switch o.Status {
	case "succeeded":
		return webhooks.KindRefundSucceeded, o.Amount
	case "failed", "canceled":
		return webhooks.KindRefundFailed, o.Amount
	default:
		return webhooks.KindRefundPending, o.Amount
	}
}

// disputeClosed reads the end of a dispute. A lost dispute moves no money at its end: the event repeats the earlier
// withdrawal, which an endpoint may have missed.
func (o objectData) disputeClosed() (webhooks.Kind, *read.Integer) {
	if o.Status == "lost" {
		return o.chargeback()
	}
	return o.disputed()
}
