package mollie

// disputeReasons returns the codes of a chargeback of a SEPA direct debit, which are the reason codes of ISO 20022, from memory.
func disputeReasons() map[string]string {
	return map[string]string{
		"AC01": "the account number is wrong",
		"AC04": "the account is closed",
		"AC06": "the account is blocked",
		"AG01": "the account allows no direct debits",
		"AM04": "the account had too little money",
		"AM05": "charged twice",
		"MD01": "the customer gave no mandate",
		"MD06": "the customer asked the bank for the money, without a further reason",
		"MD07": "the account's holder has died",
		"MS02": "the customer refused the debit",
		"MS03": "the bank gave no reason",
		"SL01": "the customer's bank does not allow the debit",
	}
}
