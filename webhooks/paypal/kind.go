package paypal

import (
	"github.com/paylatch/paylatch/webhooks"
)

// reader reads a resource to its kind and to the amount that the event is about.
type reader func(object) (webhooks.Kind, amountData)

// readerOf returns how to read the resource of an event type, nil for a type that is none of ours
// (https://developer.paypal.com/api/rest/webhooks/event-names/). SALE is version 1's name for a capture.
// CHECKOUT.ORDER.VOIDED, PAYMENT.AUTHORIZATION.DENIED and PAYMENT.REFUND are from memory.
func readerOf(eventType string) reader {
	switch eventType {
	case "CHECKOUT.ORDER.APPROVED":
		return object.approved
	case "CHECKOUT.ORDER.COMPLETED":
		return object.orderCompleted
	case "CHECKOUT.ORDER.VOIDED":
		return object.failed
	case "CHECKOUT.PAYMENT-APPROVAL.REVERSED":
		return object.softFailed
	case "PAYMENT.AUTHORIZATION.CREATED", "PAYMENT.AUTHORIZATION.VOIDED", "PAYMENT.AUTHORIZATION.DENIED":
		return authorizationReader(eventType)
	case "PAYMENT.CAPTURE.COMPLETED", "PAYMENT.SALE.COMPLETED":
		return object.succeeded
	case "PAYMENT.CAPTURE.PENDING", "PAYMENT.SALE.PENDING":
		return object.processing
	case "PAYMENT.CAPTURE.DENIED", "PAYMENT.CAPTURE.DECLINED", "PAYMENT.SALE.DENIED":
		return object.captureFailed
	case "PAYMENT.CAPTURE.REVERSED", "PAYMENT.SALE.REVERSED":
		return object.reversed
	case "PAYMENT.CAPTURE.REFUNDED", "PAYMENT.SALE.REFUNDED":
		return object.refunded
	case "PAYMENT.REFUND.PENDING":
		return object.refundPending
	case "PAYMENT.REFUND.FAILED":
		return object.refundFailed
	case "CUSTOMER.DISPUTE.CREATED", "CUSTOMER.DISPUTE.UPDATED", "CUSTOMER.DISPUTE.RESOLVED":
		return object.disputed
	default:
		return nil
	}
}

// approved reads an order that the buyer has agreed to. Nothing is paid or held yet: the merchant must capture it.
func (r object) approved() (webhooks.Kind, amountData) { return webhooks.KindProcessing, nil }

func (r object) failed() (webhooks.Kind, amountData) { return webhooks.KindFailed, r.Amount }

func (r object) softFailed() (webhooks.Kind, amountData) { return webhooks.KindSoftFailed, r.Amount }

func (r object) succeeded() (webhooks.Kind, amountData) { return webhooks.KindSucceeded, r.Amount }

func (r object) processing() (webhooks.Kind, amountData) { return webhooks.KindProcessing, r.Amount }

// reversed reads a payment that PayPal took back. A dispute that is reported as well may be why, and this names no
// movement, so that the two count once.
func (r object) reversed() (webhooks.Kind, amountData) { return webhooks.KindChargeback, r.Amount }

func (r object) refundPending() (webhooks.Kind, amountData) {
	return webhooks.KindRefundPending, r.Amount
}

func (r object) refundFailed() (webhooks.Kind, amountData) {
	return webhooks.KindRefundFailed, r.Amount
}

// orderCompleted reads an order by its captures and authorizations. If there are several captures, or if the capture is not
// completed, the captures' own events count.
func (r object) orderCompleted() (webhooks.Kind, amountData) {
	var captures, authorizations []object
	for _, unit := range r.PurchaseUnits {
		captures = append(captures, unit.Payments.Captures...)
		authorizations = append(authorizations, unit.Payments.Authorizations...)
	}
	switch {
	case len(captures) == 1 && captures[0].Status == "COMPLETED":
		return webhooks.KindSucceeded, captures[0].Amount
	case len(captures) == 0 && len(authorizations) == 1:
		return authorizations[0].authorized()
	default:
		return webhooks.KindProcessing, nil
	}
}

func authorizationReader(eventType string) reader {
	if eventType == "PAYMENT.AUTHORIZATION.CREATED" {
		return object.authorized
	}
	return object.failed
}

// authorized reads an authorization by its status: one under review holds nothing yet, and of one that was captured the
// capture's event counts. Version 1 has no status here.
func (r object) authorized() (webhooks.Kind, amountData) {
	switch r.Status {
	case "", "CREATED":
		return webhooks.KindAuthorized, r.Amount
	case "DENIED", "VOIDED":
		return webhooks.KindFailed, r.Amount
	default:
		return webhooks.KindProcessing, r.Amount
	}
}

// captureFailed reads a capture that was turned down. That of an order is the end of it. That of an authorization is
// not: the money may still be held and another capture may succeed, so that it must be voided before it has failed.
func (r object) captureFailed() (webhooks.Kind, amountData) {
	if r.authorization() != "" {
		return webhooks.KindSoftFailed, r.Amount
	}
	return webhooks.KindFailed, r.Amount
}

// refunded reads a refund by its status, which version 1 does not have; the amount is of this refund alone.
func (r object) refunded() (webhooks.Kind, amountData) {
	switch r.Status {
	case "", "COMPLETED":
		return webhooks.KindRefundSucceeded, r.Amount
	case "FAILED", "CANCELLED":
		return webhooks.KindRefundFailed, r.Amount
	default:
		return webhooks.KindRefundPending, r.Amount
	}
}
