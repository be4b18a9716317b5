package braintree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestStored(t *testing.T) {
	t.Parallel()
	review := func(decision string) string {
		return braintreeXML("transaction_reviewed", `<transaction-review><transaction-id>t1</transaction-id><decision>`+decision+`</decision></transaction-review>`)
	}
	revoked := braintreeXML("payment_method_revoked_by_customer", `<paypal-account><token>tok1</token></paypal-account>`)
	v := newVerifier(t)
	providertest.Stored(t, v, map[string]string{
		revoked: "method_removed: tok1",
		braintreeXML("payment_method_customer_data_updated", `<payment-method-customer-data-updated-metadata><token>tok1</token></payment-method-customer-data-updated-metadata>`): "method_updated: tok1",
		braintreeXML("granted_payment_method_revoked", `<paypal-account><token>tok1</token></paypal-account>`):                                                                     "ignored:",
		review("Approve"):          "review: review approved of t1",
		review("decline"):          "review: review declined of t1",
		review("a smart decision"): "ignored:",
	})
	other := braintreeXML("payment_method_revoked_by_customer", `<paypal-account><token>tok2</token></paypal-account>`)
	require.NotEqual(t, providertest.Parsed(t, v, revoked).ID, providertest.Parsed(t, v, other).ID)
	providertest.RequireUnreadable(t, v, providertest.Signed(t, v, braintreeXML("payment_method_revoked_by_customer", `<paypal-account></paypal-account>`)))
}
