package braintree

// disputeReasons returns the values of a dispute's reason (https://developer.paypal.com/braintree/docs/reference/response/dispute),
// from memory.
func disputeReasons() map[string]string {
	return map[string]string{
		"cancelled_recurring_transaction": "a cancelled subscription was charged",
		"credit_not_processed":            "a promised refund did not arrive",
		"duplicate":                       "charged twice",
		"fraud":                           "fraud: the cardholder did not make the payment",
		"general":                         "no particular reason",
		"invalid_account":                 "the account number is unknown",
		"not_recognized":                  "the customer does not recognize the payment",
		"product_not_received":            "the goods or the service did not arrive",
		"product_unsatisfactory":          "the goods or the service are not as described, or defective",
		"retrieval":                       "the bank asks for the documents of the payment",
		"transaction_amount_differs":      "a wrong amount",
	}
}
