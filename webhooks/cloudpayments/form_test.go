package cloudpayments_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

// FuzzForm has the forms, which CloudPayments sends if nothing else was chosen, at all of its addresses; FuzzGenuine has
// the JSON.
func FuzzForm(f *testing.F) {
	providertest.GenuineForm(f, newVerifier(f), nil, []string{"check", "pay", "fail", "confirm", "refund", "cancel", "recurrent"},
		cloudPayment+"&Status=Completed", cloudPayment+"&ReasonCode=5051", cloudPayment+"&PaymentTransactionId=9&OperationType=Refund",
		`TransactionId=17&InvoiceId=order_1&Status=Completed&Data={"payment_attempt_id":"att_1"}`,
	)
}
