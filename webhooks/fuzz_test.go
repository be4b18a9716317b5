package webhooks_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

func FuzzStandard(f *testing.F) {
	for i, body := range []string{
		chargeSucceeded, `{"test":1}`, `{"type":"refund.failed","data":{"refund_id":"re_1","amount":0,"currency":"jpy"}}`,
		`{"type":"charge.failed","created":9e9,"data":{"failure_code":"x","reference":"a","charge_id":"a"}}`, `null`, ``, `{`,
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := newStandard(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := signed(t, v, string(body))
		checkParse(t, v, d)
		checkFlip(t, v, d, []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"}, place, mask)
	})
}

func FuzzStripe(f *testing.F) {
	for i, body := range []string{
		intentSucceeded, stripeBody("charge.refunded", chargeMembers+`,"amount_captured":1,"amount_refunded":9`),
		stripeBody("refund.updated", refundMembers+`,"status":"canceled"`), stripeBody("charge.dispute.closed", disputeMembers),
		stripeBody("checkout.session.completed", sessionMembers), stripeBody("payment_intent.payment_failed", `"payment_intent":{"id":1},"amount":1,"currency":"isk"`),
		`{"id":"evt_1","type":"x","created":"2026-03-14T15:09:26Z"}`, `{"id":"evt_1","type":"x","created":253402300800}`, ``,
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := newStripe(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := signed(t, v, string(body))
		checkParse(t, v, d)
		checkFlip(t, v, d, []string{"Stripe-Signature"}, place, mask)
	})
}

// signatureHeaders are the headers that prove a delivery, of all kinds.
var signatureHeaders = []string{
	"Authorization", "Cko-Signature", "Content-HMAC", "hmacSignature", "Paddle-Signature", "PAYPAL-AUTH-ALGO", "PAYPAL-CERT-URL",
	"PAYPAL-TRANSMISSION-ID", "PAYPAL-TRANSMISSION-SIG", "PAYPAL-TRANSMISSION-TIME", "Stripe-Signature", "webhook-id",
	"webhook-signature", "webhook-timestamp", "X-Content-HMAC", "X-Mollie-Signature", "X-Razorpay-Signature", "X-Signature",
	"x-square-hmacsha256-signature",
}

// FuzzForged gives each kind what nobody has signed: it is refused by an error of
// the package, or is taken as a hint to ask, which proves nothing.
func FuzzForged(f *testing.F) {
	for header, body := range map[string]string{
		"t=1773500966,v1=00": intentSucceeded, "ts=1773500966;h1=00": "id=tr_1", "v1,AAAA v1a,AAAA": chargeSucceeded,
		"sha256=00": "bt_payload=AAAA&bt_signature=a|00", "AAAA": `{"Token":"00","notificationItems":[{}]}`,
		"": "OutSum=1&InvId=1&SignatureValue=00", "=,;.": "secret=x&transId=1",
	} {
		f.Add(header, "/?id=1&bt_challenge=00", []byte(body))
	}
	verifiers := samplers(f)
	f.Fuzz(func(t *testing.T, header, url string, body []byte) {
		d := webhooks.Delivery{Method: http.MethodPost, URL: url, Header: http.Header{}, Body: body, ReceivedAt: now}
		for _, name := range signatureHeaders {
			d.Header.Set(name, header)
		}
		for kind, v := range verifiers {
			events, err := v.Verify(t.Context(), d)
			if err != nil {
				require.Empty(t, events)
				requireSentinel(t, err)
				continue
			}
			for _, e := range events {
				require.True(t, e.NeedsFetch && e.SecretIndex < 0, kind)
			}
		}
	})
}

// checkParse requires that a genuine delivery is sound events, or not understood.
func checkParse(t *testing.T, v webhooks.Verifier, d webhooks.Delivery) {
	t.Helper()
	events, err := v.Verify(t.Context(), d)
	if err != nil {
		require.ErrorIs(t, err, webhooks.ErrPayload)
		require.Empty(t, events)
		return
	}
	require.NotEmpty(t, events)
	for _, e := range events {
		requireSound(t, e)
	}
}

// checkFlip changes one byte of what is signed, or of the signature, and requires
// that the delivery is refused as not genuine.
func checkFlip(t *testing.T, v webhooks.Verifier, d webhooks.Delivery, headers []string, place uint, mask byte) {
	t.Helper()
	if mask == 0 {
		return
	}
	if n := uint(len(d.Body)); place < n {
		d.Body[place] ^= mask
		requireForged(t, v, d)
		return
	}
	place -= uint(len(d.Body))
	name := headers[place%uint(len(headers))]
	value := []byte(d.Header.Get(name))
	original := string(value)
	value[place/uint(len(headers))%uint(len(value))] ^= mask
	if name != "Webhook-Id" && original == strings.ToLower(original) && strings.EqualFold(original, string(value)) {
		return // hex, which base64 of a digest never looks like, may be in either case
	}
	d.Header.Set(name, string(value))
	requireForged(t, v, d)
}

func requireForged(t *testing.T, v webhooks.Verifier, d webhooks.Delivery) {
	t.Helper()
	err := refused(t, v, d)
	require.True(t, errors.Is(err, webhooks.ErrSignatureInvalid) || errors.Is(err, webhooks.ErrSignatureMalformed) ||
		errors.Is(err, webhooks.ErrSignatureMissing), "%v", err)
}

// verified returns the error with which d is refused, if it is.
func verified(t *testing.T, v webhooks.Verifier, d webhooks.Delivery) error {
	t.Helper()
	_, err := v.Verify(t.Context(), d)
	return err
}

// checkSame changes one byte of the body of a genuine delivery, and requires that
// it is refused as not genuine, or says the same, but for what forget erases.
func checkSame(t *testing.T, v webhooks.Verifier, d webhooks.Delivery, place uint, mask byte, forget func(*webhooks.Event)) {
	t.Helper()
	if len(d.Body) == 0 || mask == 0 {
		return
	}
	before, err := v.Verify(t.Context(), d)
	if err != nil {
		return
	}
	d.Body = []byte(string(d.Body))
	d.Body[place%uint(len(d.Body))] ^= mask
	after, err := v.Verify(t.Context(), d)
	if err != nil {
		requireSentinel(t, err)
		return
	}
	require.Len(t, after, len(before))
	for i := range before {
		forget(&before[i])
		forget(&after[i])
	}
	require.Equal(t, before, after)
}
