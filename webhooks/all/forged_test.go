package all_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

// signatureHeaders are the headers that prove a delivery, of all kinds.
var signatureHeaders = []string{
	"Authorization", "Cko-Signature", "Content-HMAC", "hmacSignature", "Paddle-Signature", "PAYPAL-AUTH-ALGO", "PAYPAL-CERT-URL",
	"PAYPAL-TRANSMISSION-ID", "PAYPAL-TRANSMISSION-SIG", "PAYPAL-TRANSMISSION-TIME", "Stripe-Signature", "webhook-id",
	"webhook-signature", "webhook-timestamp", "X-Content-HMAC", "X-Mollie-Signature", "X-Razorpay-Signature", "X-Signature",
	"x-square-hmacsha256-signature",
}

// FuzzForged gives each kind what has no signature: it is refused by an error of package webhooks, or is taken as a
// hint to look the payment up, which proves nothing.
func FuzzForged(f *testing.F) {
	for header, body := range map[string]string{
		"t=1773500966,v1=00": `{"id":"evt_1","type":"payment_intent.succeeded"}`, "ts=1773500966;h1=00": "id=tr_1",
		"v1,AAAA v1a,AAAA": `{"id":"evt_1","type":"charge.succeeded","data":{"charge_id":"ch_1"}}`,
		"sha256=00":        "bt_payload=AAAA&bt_signature=a|00", "AAAA": `{"Token":"00","notificationItems":[{}]}`,
		"": "OutSum=1&InvId=1&SignatureValue=00", "=,;.": "secret=x&transId=1",
	} {
		f.Add(header, "/?id=1&bt_challenge=00", []byte(body))
	}
	kinds := verifiers(f)
	f.Fuzz(func(t *testing.T, header, url string, body []byte) {
		d := webhooks.Delivery{Method: http.MethodPost, URL: url, Header: http.Header{}, Body: body, ReceivedAt: providertest.Now}
		for _, name := range signatureHeaders {
			d.Header.Set(name, header)
		}
		for kind, v := range kinds {
			events, err := v.Verify(t.Context(), d)
			if err != nil {
				require.Empty(t, events)
				providertest.RequireSentinel(t, err)
				continue
			}
			for _, e := range events {
				require.True(t, e.NeedsFetch && e.SecretIndex < 0, kind)
			}
		}
	})
}
