package razorpay

import "github.com/paylatch/paylatch/internal/provider/kit"

// refundTime is from https://razorpay.com/docs/payments/refunds/normal/.
func refundTime() kit.RefundTime {
	return kit.RefundTime{
		Words:  "5 to 10 days later on a card, 2 to 10 by netbanking, 2 to 7 by UPI, and up to 3 in a wallet",
		Source: "https://razorpay.com/docs/payments/refunds/normal/",
	}
}

// disputeReasons returns the values of reason_code in the documentation's samples
// (https://razorpay.com/docs/webhooks/payloads/disputes/). Razorpay has no list of all.
func disputeReasons() map[string]string {
	return map[string]string{
		"goods_or_services_not_received_or_partially_received": "the goods or the service did not arrive, or only in part",
		"non_matching_account_number":                          "a wrong account number",
		"processed_invalid_expired_card":                       "the card was not valid any more",
	}
}
