package braintree_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.GenuineXML(f, "braintree", newVerifier(f),
		braintreeSale("transaction_settled", "<type>sale</type>"),
		braintreeSale("refund_failed", "<refunded-transaction-fk>t0</refunded-transaction-fk>"),
		braintreeDispute("dispute_won", "chargeback"),
		braintreeXML("local_payment_completed", "<local-payment><payment-id>p1</payment-id></local-payment>"),
	)
}
