package adyen

import "github.com/paylatch/paylatch/internal/provider/kit"

// refundTime is from https://docs.adyen.com/online-payments/refund.
func refundTime() kit.RefundTime {
	return kit.RefundTime{Words: "up to 40 business days later, depending on the payment method", Source: "https://docs.adyen.com/online-payments/refund"}
}
