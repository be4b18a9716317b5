package square

// disputeReasons returns the values of a dispute's reason (https://developer.squareup.com/reference/square/enums/DisputeReason).
func disputeReasons() map[string]string {
	return map[string]string{
		"AMOUNT_DIFFERS":           "a wrong amount",
		"CANCELLED":                "the goods or the service were cancelled or returned",
		"CUSTOMER_REQUESTS_CREDIT": "a promised refund did not arrive",
		"DUPLICATE":                "charged twice",
		"EMV_LIABILITY_SHIFT":      "fraud with a counterfeit, stolen or lost card",
		"NOT_AS_DESCRIBED":         "the goods or the service are not as described, or defective",
		"NOT_RECEIVED":             "the goods or the service did not arrive",
		"NO_KNOWLEDGE":             "fraud: the cardholder did not make the payment",
		"PAID_BY_OTHER_MEANS":      "paid in another way",
	}
}
