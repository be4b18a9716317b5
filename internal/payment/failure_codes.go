package payment

import "github.com/paylatch/paylatch/webhooks"

// failureCode is a code of the contract's FailureCode with its texts.
type failureCode struct {
	code webhooks.FailureCode
	// payment and refund are the sentences for a person about a payment and about a refund that failed so.
	payment, refund string
	// meaning and next are for the shop's developer: the reason, and the shop's next step. Neither is about a refund.
	meaning, next string
}

// failureCodes is the list of the contract: TestFailureCodes writes it into api/openapi.yaml, api/events.yaml and
// docs/reference/failure-codes.md, and scripts/gen into the clients. The last one stands for an unknown code.
var failureCodes = []failureCode{ //nolint:gochecknoglobals // a table
	{
		code: webhooks.CodeCardDeclined, payment: "The card was declined.", refund: rejected,
		meaning: "The customer's bank or the provider declined the card, or its number, date or security code is wrong.",
		next:    "Offer another try: with another card or another payment method, or after a correction.",
	},
	{
		code: webhooks.CodeInsufficientFunds, payment: "There is not enough money on the card.", refund: rejected,
		meaning: "The card or the bank account has not enough money, or the payment exceeds its limit.",
		next:    "Offer another try with another payment method. The same one may work later.",
	},
	{
		code: webhooks.CodeAuthenticationFailed, payment: "The payment was not confirmed by the customer.", refund: rejected,
		meaning: "The customer did not pass the bank's confirmation, such as 3-D Secure.",
		next:    "Offer another try: the customer may confirm this time. If many fail this way, check your 3-D Secure page.",
	},
	{
		code: webhooks.CodeExpired, payment: "The payment was not finished in time.", refund: "The refund was not finished in time. Nothing was refunded.",
		meaning: "The customer did not finish the payment in time, or the hold ended before it was captured.",
		next:    "Offer another try. If a hold ended, capture earlier.",
	},
	{
		code: webhooks.CodeCanceled, payment: "The payment was cancelled. Nothing was charged.", refund: "The refund was cancelled. Nothing was refunded.",
		meaning: "The customer, the shop or the provider cancelled the payment before it was captured.",
		next:    "Offer another try if the customer still wants the order.",
	},
	{
		code: webhooks.CodeFraudSuspected, payment: "The payment was refused to protect the cardholder.", refund: rejected,
		meaning: "The bank or the provider suspects fraud, or the card is reported lost or stolen.",
		next:    "Offer another payment method. Another try with the same card does not help. Do not tell the customer more than the message.",
	},
	{
		code: "not_started", payment: "The payment could not be started. Nothing was charged.", refund: "The refund never reached the payment provider. Nothing was refunded.",
		meaning: "The provider was not reached, or has no payment that anybody could pay.",
		next:    "Offer another try. If it happens again, the provider or the connection to it fails: try later, or another account.",
	},
	{
		code: "not_paid", payment: "The payment was not made. Nothing was charged.", refund: "The refund was not made. Nothing was refunded.",
		meaning: "The provider reports no payment, or a person found that none was made.",
		next:    "Offer another try.",
	},
	{
		code: "refunded", payment: "The captured money was refunded.", refund: rejected,
		meaning: "A person found that the money of a pending payment had been given back at the provider.",
		next:    "Offer another try if the customer still wants the order.",
	},
	{
		code: "not_covered", payment: "A dispute or another refund had already taken the money.", refund: "The refund was not sent, because a dispute or another refund had already taken the money. This refund paid nothing back.",
		meaning: "Only of a refund: its money was taken back another way, such as a chargeback, before the refund was sent.",
		next:    "Nothing. The customer has the money.",
	},
	{
		code: webhooks.CodeProviderRejected, payment: "The payment provider refused the payment.", refund: rejected,
		meaning: "The provider refused the request, or its reason has no code of its own.",
		next:    "Offer another payment method. If it happens again, read `provider_code`: the account or the request may be wrong.",
	},
}

const rejected = "The payment provider refused the refund."

// failureCodeOf returns the row of a code, and the row of provider_rejected for a code that the list does not have.
func failureCodeOf(code webhooks.FailureCode) failureCode {
	for _, known := range failureCodes {
		if known.code == code {
			return known
		}
	}
	return failureCodes[len(failureCodes)-1]
}
