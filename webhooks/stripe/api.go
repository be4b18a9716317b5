package stripe

import "github.com/paylatch/paylatch/webhooks"

// Money turns an amount of Stripe's API into money as the events' amounts are. One that is not a whole number of ISO
// minor units wraps ErrPayload.
func Money(amount int64, currency string) (webhooks.Money, error) {
	return webhooks.MoneyOf(amount, currency, exponents)
}

// Amount is the inverse of [Money]. One that Stripe has no digits for wraps ErrPayload.
func Amount(m webhooks.Money) (int64, error) { return m.Units(exponents) }

// ReviewStatus returns where a review stands, by its open and closed_reason. A review that was closed for any other reason than an
// approval (a refund, a dispute, a cancellation) ended against the payment.
func ReviewStatus(open bool, reason string) webhooks.ReviewStatus {
	switch {
	case open:
		return webhooks.ReviewOpen
	case reason == "approved", reason == "acknowledged":
		return webhooks.ReviewApproved
	}
	return webhooks.ReviewDeclined
}

// FailureCode returns paylatch's code and the one of Stripe to keep for an error of Stripe's API, or the
// last_payment_error of a payment intent, by its type, code and decline_code.
func FailureCode(errorType, code, declineCode string) (ours webhooks.FailureCode, stripes string) {
	var f failure
	f.LastPaymentError.Type, f.LastPaymentError.Code, f.LastPaymentError.DeclineCode = errorType, code, declineCode
	return f.intentFailure()
}
