package standard_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzVerify(f *testing.F) {
	for i, body := range []string{
		chargeSucceeded, `{"test":1}`, `{"type":"refund.failed","data":{"refund_id":"re_1","amount":0,"currency":"jpy"}}`,
		`{"type":"charge.failed","created":9e9,"data":{"failure_code":"x","reference":"a","charge_id":"a"}}`, `null`, ``, `{`,
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := providertest.Signed(t, v, string(body))
		providertest.Parse(t, v, d)
		providertest.Flip(t, v, d, []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"}, place, mask)
	})
}
