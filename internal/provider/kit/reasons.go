package kit

// RefundTime is how long a refund takes to reach the customer. The zero RefundTime is for a provider that documents no time.
type RefundTime struct {
	// Words follow "A refund reaches the customer".
	Words string
	// Source is the address of the provider's page.
	Source string
}

// CardReasons returns the reasons of disputes in words by the codes of Visa, Mastercard and American Express, for providers
// that pass these codes on. The table is from memory.
func CardReasons() map[string]string {
	return map[string]string{
		// Visa
		"10.1": "fraud with a counterfeit card", "10.2": "fraud with a stolen or lost card", "10.3": "fraud in a shop", "10.4": "fraud: the cardholder did not make the payment",
		"10.5": "fraud, found by Visa's monitoring", "11.1": "the card was on a list of blocked cards", "11.2": "the authorization had been declined", "11.3": "there was no authorization",
		"12.1": "the payment was captured late", "12.2": "a wrong kind of transaction", "12.3": "a wrong currency", "12.4": "a wrong account number", "12.5": "a wrong amount",
		"12.6": "charged twice, or paid in another way", "12.6.1": "charged twice", "12.6.2": "paid in another way", "12.7": "wrong data of the payment",
		"13.1": "the goods or the service did not arrive", "13.2": "a cancelled subscription was charged", "13.3": "the goods or the service are not as described, or defective",
		"13.4": "counterfeit goods", "13.5": "the offer was misleading", "13.6": "a promised refund did not arrive", "13.7": "the goods or the service were cancelled or returned",
		"13.8": "a credit was not accepted", "13.9": "cash, or a top-up, did not arrive",
		// Mastercard
		"4807": "the card was on a list of blocked cards", "4808": "there was no valid authorization", "4812": "the account number is unknown", "4831": "the amount differs",
		"4834": "an error of the charge, such as a double charge", "4837": "fraud: the cardholder did not make the payment", "4840": "fraudulent processing",
		"4841": "a cancelled subscription was charged", "4842": "the payment was captured late", "4846": "a wrong currency", "4849": "questionable activity of the shop",
		"4853": "the customer disputes the goods or the service", "4855": "the goods or the service did not arrive", "4859": "a fee for a no-show or an additional charge",
		"4860": "a promised refund did not arrive", "4863": "the cardholder does not recognize the payment", "4870": "fraud with a counterfeit card", "4871": "fraud with a stolen or lost card",
		// American Express
		"A01": "the amount is above the authorization", "A02": "there was no valid authorization", "A08": "the authorization had expired", "C02": "a promised refund did not arrive",
		"C04": "the goods were returned or refused", "C05": "the goods or the service were cancelled", "C08": "the goods or the service did not arrive", "C14": "paid in another way",
		"C18": "a reservation was cancelled", "C28": "a cancelled subscription was charged", "C31": "the goods or the service are not as described", "C32": "the goods are damaged or defective",
		"F24": "fraud: the cardholder did not make the payment", "F29": "fraud: the cardholder did not make the payment", "F30": "fraud with a counterfeit card", "F31": "fraud with a stolen or lost card",
		"M01": "the shop agreed to the chargeback", "P01": "the account number is unknown", "P03": "a refund was processed as a charge", "P04": "a charge was processed as a refund",
		"P05": "a wrong amount", "P07": "the payment was captured late", "P08": "charged twice", "P22": "a wrong account number", "P23": "a wrong currency",
		"R03": "the shop's answer to an inquiry was incomplete", "R13": "the shop did not answer an inquiry",
	}
}
