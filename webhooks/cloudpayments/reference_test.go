package cloudpayments_test

import (
	"net/url"
	"testing"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/cloudpayments"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

// payer sends to the address of pay.
type payer struct{ *cloudpayments.Verifier }

func (p payer) Sign(d *webhooks.Delivery) error {
	d.Topic = "pay"
	return p.Verifier.Sign(d)
}

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	providertest.BegunElsewhere(t, payer{newVerifier(t)}, cloudpayments.About().Reference, func(text string, metadata map[string]string) string {
		return url.Values{
			"TransactionId": {"17"}, "Amount": {"19.99"}, "Currency": {"RUB"}, "Status": {"Completed"},
			"InvoiceId": {text}, "Data": {providertest.JSON(metadata)},
		}.Encode()
	})
}
