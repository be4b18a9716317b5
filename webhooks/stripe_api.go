package webhooks

// StripeMoney turns an amount of Stripe's API into Money as the events' amounts
// are. One that has no whole number of ISO minor units wraps ErrPayload.
func StripeMoney(amount int64, currency string) (Money, error) {
	return moneyOf(amount, currency, stripeExponents)
}

// StripeAmount turns Money into the amount that Stripe's API is told, the
// inverse of [StripeMoney]. One that Stripe has no digits for wraps ErrPayload.
func StripeAmount(m Money) (int64, error) {
	exponent, special := stripeExponents[m.Currency]
	if !special {
		return m.Minor, nil
	}
	amount, err := scaled(m.Minor, exponent-isoDigits[m.Currency], m.Currency)
	return amount.Minor, err
}

// StripeFailureCode returns paylatch's code and the one of Stripe to keep for an
// error of Stripe's API, or the last_payment_error of a payment intent, by its
// type, code and decline_code.
func StripeFailureCode(errorType, code, declineCode string) (ours, stripes string) {
	var f stripeFailure
	f.LastPaymentError.Type, f.LastPaymentError.Code, f.LastPaymentError.DeclineCode = errorType, code, declineCode
	return f.intentFailure()
}

// StripeCancellationCode returns paylatch's code for the cancellation_reason of a
// payment intent, which may be empty.
func StripeCancellationCode(reason string) string { return stripeCancellation(reason) }
