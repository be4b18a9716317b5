package paypal

import "github.com/paylatch/paylatch/internal/provider/kit"

// refundTime is from https://www.paypal.com/nz/smarthelp/article/how-is-a-paypal-refund-credited-faq1083.
func refundTime() kit.RefundTime {
	return kit.RefundTime{
		Words:  "in the PayPal balance, or up to 30 days later on a credit card's statement",
		Source: "https://www.paypal.com/nz/smarthelp/article/how-is-a-paypal-refund-credited-faq1083",
	}
}

// disputeReasons returns the values of dispute_reason
// (https://github.com/paypal/paypal-rest-api-specifications, customer_disputes_v1.json).
func disputeReasons() map[string]string {
	return map[string]string{
		"CANCELED_RECURRING_BILLING":              "a cancelled subscription was charged",
		"CREDIT_NOT_PROCESSED":                    "a promised refund did not arrive",
		"DUPLICATE_TRANSACTION":                   "charged twice",
		"INCORRECT_AMOUNT":                        "a wrong amount",
		"MERCHANDISE_OR_SERVICE_NOT_AS_DESCRIBED": "the goods or the service are not as described",
		"MERCHANDISE_OR_SERVICE_NOT_RECEIVED":     "the goods or the service did not arrive",
		"OTHER":                                   "another reason",
		"PAYMENT_BY_OTHER_MEANS":                  "paid in another way",
		"PROBLEM_WITH_REMITTANCE":                 "a problem with the transfer",
		"UNAUTHORISED":                            "fraud: the customer did not make the payment",
	}
}
