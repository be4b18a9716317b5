package razorpay_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "razorpay", newVerifier(f), nil,
		razorpayBody("order.paid", "payment", razorpayPayment, "order", razorpayOrder),
		razorpayBody("refund.failed", "refund", razorpayRefund),
		razorpayBody("payment.dispute.lost", "dispute", razorpayDispute),
	)
}
