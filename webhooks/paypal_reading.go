package webhooks

// paypalReader reads a resource to its kind and to the amount that the news is
// about.
type paypalReader func(paypalResource) (Kind, *paypalMoney)

// paypalReading returns how to read the resource of an event type, nil for a type
// that is none of ours
// (https://developer.paypal.com/api/rest/webhooks/event-names/). SALE is what
// version 1 calls a capture. CHECKOUT.ORDER.VOIDED, PAYMENT.AUTHORIZATION.DENIED
// and PAYMENT.REFUND are from memory.
func paypalReading(eventType string) paypalReader {
	switch eventType {
	case "CHECKOUT.ORDER.APPROVED":
		return paypalResource.approved
	case "CHECKOUT.ORDER.COMPLETED":
		return paypalResource.orderCompleted
	case "CHECKOUT.ORDER.VOIDED":
		return paypalResource.failed
	case "CHECKOUT.PAYMENT-APPROVAL.REVERSED":
		return paypalResource.softFailed
	case "PAYMENT.AUTHORIZATION.CREATED", "PAYMENT.AUTHORIZATION.VOIDED", "PAYMENT.AUTHORIZATION.DENIED":
		return paypalAuthorization(eventType)
	case "PAYMENT.CAPTURE.COMPLETED", "PAYMENT.SALE.COMPLETED":
		return paypalResource.succeeded
	case "PAYMENT.CAPTURE.PENDING", "PAYMENT.SALE.PENDING":
		return paypalResource.processing
	case "PAYMENT.CAPTURE.DENIED", "PAYMENT.CAPTURE.DECLINED", "PAYMENT.SALE.DENIED":
		return paypalResource.captureFailed
	case "PAYMENT.CAPTURE.REVERSED", "PAYMENT.SALE.REVERSED":
		return paypalResource.reversed
	case "PAYMENT.CAPTURE.REFUNDED", "PAYMENT.SALE.REFUNDED":
		return paypalResource.refunded
	case "PAYMENT.REFUND.PENDING":
		return paypalResource.refundPending
	case "PAYMENT.REFUND.FAILED":
		return paypalResource.refundFailed
	case "CUSTOMER.DISPUTE.CREATED", "CUSTOMER.DISPUTE.UPDATED", "CUSTOMER.DISPUTE.RESOLVED":
		return paypalResource.disputed
	default:
		return nil
	}
}

// approved reads an order that the buyer has agreed to. Nothing is paid or held
// yet: the merchant must capture it.
func (r paypalResource) approved() (Kind, *paypalMoney) { return KindProcessing, nil }

func (r paypalResource) failed() (Kind, *paypalMoney)     { return KindFailed, r.Amount }
func (r paypalResource) softFailed() (Kind, *paypalMoney) { return KindSoftFailed, r.Amount }
func (r paypalResource) succeeded() (Kind, *paypalMoney)  { return KindSucceeded, r.Amount }
func (r paypalResource) processing() (Kind, *paypalMoney) { return KindProcessing, r.Amount }

// reversed reads a payment that PayPal took back. A dispute that is told of as well may
// be why, and this names no movement, so that the two count once.
func (r paypalResource) reversed() (Kind, *paypalMoney) { return KindChargeback, r.Amount }

func (r paypalResource) refundPending() (Kind, *paypalMoney) {
	return KindRefundPending, r.Amount
}

func (r paypalResource) refundFailed() (Kind, *paypalMoney) {
	return KindRefundFailed, r.Amount
}

// orderCompleted reads an order by what was made of it. With several captures, or
// one that is not completed, the captures' own events tell.
func (r paypalResource) orderCompleted() (Kind, *paypalMoney) {
	var captures, authorizations []paypalResource
	for _, unit := range r.PurchaseUnits {
		captures = append(captures, unit.Payments.Captures...)
		authorizations = append(authorizations, unit.Payments.Authorizations...)
	}
	switch {
	case len(captures) == 1 && captures[0].Status == "COMPLETED":
		return KindSucceeded, captures[0].Amount
	case len(captures) == 0 && len(authorizations) == 1:
		return authorizations[0].authorized()
	default:
		return KindProcessing, nil
	}
}

func paypalAuthorization(eventType string) paypalReader {
	if eventType == "PAYMENT.AUTHORIZATION.CREATED" {
		return paypalResource.authorized
	}
	return paypalResource.failed
}

// authorized reads an authorization by its status: one under review holds
// nothing yet, and of one that was captured the capture tells. Version 1 has no
// status here.
func (r paypalResource) authorized() (Kind, *paypalMoney) {
	switch r.Status {
	case "", "CREATED":
		return KindAuthorized, r.Amount
	case "DENIED", "VOIDED":
		return KindFailed, r.Amount
	default:
		return KindProcessing, r.Amount
	}
}

// captureFailed reads a capture that was turned down. That of an order is the
// end of it. That of an authorization is not: the money may still be held and
// another capture may succeed, so that it must be voided before it has failed.
func (r paypalResource) captureFailed() (Kind, *paypalMoney) {
	if r.authorization() != "" {
		return KindSoftFailed, r.Amount
	}
	return KindFailed, r.Amount
}

// refunded reads a refund by its status, which version 1 does not have; the amount
// is of this refund alone.
func (r paypalResource) refunded() (Kind, *paypalMoney) {
	switch r.Status {
	case "", "COMPLETED":
		return KindRefundSucceeded, r.Amount
	case "FAILED", "CANCELLED":
		return KindRefundFailed, r.Amount
	default:
		return KindRefundPending, r.Amount
	}
}

// paypalDispute holds what is read of a dispute
// (https://developer.paypal.com/docs/api/customer-disputes/v1/).
type paypalDispute struct {
	DisputeID            string       `json:"dispute_id"`
	DisputeAmount        *paypalMoney `json:"dispute_amount"`
	DisputedTransactions []struct {
		SellerTransactionID string `json:"seller_transaction_id"`
		InvoiceNumber       string `json:"invoice_number"`
		Custom              string `json:"custom"`
	} `json:"disputed_transactions"`
	DisputeOutcome struct {
		OutcomeCode    string       `json:"outcome_code"`
		AmountRefunded *paypalMoney `json:"amount_refunded"`
	} `json:"dispute_outcome"`
}

// disputed reads a dispute. Until it is resolved the money is only on hold. Resolved
// for the buyer, it is gone; for the seller, or withdrawn, nothing is at stake any more.
// Any other outcome a person must look at.
func (r paypalResource) disputed() (Kind, *paypalMoney) {
	if r.Status != "RESOLVED" {
		return KindDisputed, r.DisputeAmount
	}
	switch r.DisputeOutcome.OutcomeCode {
	case "RESOLVED_BUYER_FAVOUR":
		if r.DisputeOutcome.AmountRefunded != nil {
			return KindChargeback, r.DisputeOutcome.AmountRefunded
		}
		return KindChargeback, r.DisputeAmount
	case "RESOLVED_SELLER_FAVOUR", "CANCELED_BY_BUYER", "DENIED", "NONE":
		return KindIgnored, nil
	default:
		return KindDisputed, r.DisputeAmount
	}
}
