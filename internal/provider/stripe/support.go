package stripe

import "github.com/paylatch/paylatch/internal/provider/kit"

// refundTime is from https://support.stripe.com/questions/customer-refund-processing-time.
func refundTime() kit.RefundTime {
	return kit.RefundTime{Words: "5 to 10 business days later, depending on the bank", Source: "https://support.stripe.com/questions/customer-refund-processing-time"}
}

// disputeReasons returns the values of a dispute's reason (https://docs.stripe.com/api/disputes/object).
func disputeReasons() map[string]string {
	return map[string]string{
		"bank_cannot_process":       "the customer's bank could not process the charge",
		"check_returned":            "the check was returned",
		"credit_not_processed":      "a promised refund did not arrive",
		"customer_initiated":        "the customer asked the bank for the money, without a further reason",
		"debit_not_authorized":      "the customer did not authorize the debit",
		"duplicate":                 "charged twice",
		"fraudulent":                "fraud: the cardholder did not make the payment",
		"general":                   "no particular reason",
		"incorrect_account_details": "wrong account details",
		"insufficient_funds":        "the account had too little money",
		"noncompliant":              "the payment broke a rule of the card network",
		"product_not_received":      "the goods or the service did not arrive",
		"product_unacceptable":      "the goods or the service are not as described, or defective",
		"subscription_canceled":     "a cancelled subscription was charged",
		"unrecognized":              "the customer does not recognize the payment",
	}
}
