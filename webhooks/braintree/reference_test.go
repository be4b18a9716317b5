package braintree_test

import (
	"strings"
	"testing"

	"github.com/paylatch/paylatch/webhooks/braintree"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		braintreeSale("transaction_settled", "<type>sale</type>"),
		braintreeXML("local_payment_completed", `<local-payment><payment-id>p1</payment-id><transaction><id>t1</id>`+
			`<status>authorized</status><order-id>att_1</order-id></transaction></local-payment>`),
	} {
		providertest.BegunElsewhere(t, newVerifier(t), braintree.About().Reference, func(text string, _ map[string]string) string {
			return strings.Replace(body, "att_1", text, 1)
		})
	}
}
