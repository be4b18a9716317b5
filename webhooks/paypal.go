package webhooks

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// PayPal verifies deliveries of PayPal
// (https://developer.paypal.com/api/rest/webhooks/rest/, "Self verification
// method"): RSA with SHA-256 over the transmission's id and time, the webhook's id
// and the CRC-32 of the raw body, by the key of the certificate that the header
// PAYPAL-CERT-URL names. It can't sign, because only PayPal has the key.
//
// It is safe for concurrent use.
type PayPal struct {
	webhookIDs   []string
	certificates *paypalCertificates
	window       window
}

// NewPayPal returns a verifier by [Config.Params] "webhook_id", the id that PayPal
// gave the webhook; several may be given, with commas between, while one takes
// over from another. None wraps ErrConfig.
//
// [Config.Certificate] fetches certificates; without it Verify returns ErrConfig.
// [Config.Roots] are the trusted roots; where PayPal sends its certificate
// without the one that signed it, that one belongs there.
//
// [Config.Tolerance] limits the age of a transmission in either direction. PayPal
// documents no limit and tries for 3 days, so 0 is four days. A CRC-32 is easily made
// to match: whoever has seen one genuine delivery could use its headers for another
// body. A negative one is no limit.
func NewPayPal(c Config) (*PayPal, error) {
	ids := strings.FieldsFunc(c.Params["webhook_id"], func(r rune) bool { return r == ',' || r == ' ' })
	if len(ids) == 0 {
		return nil, fmt.Errorf("%w: no webhook_id", ErrConfig)
	}
	limit := tolerance(c, paypalTolerance)
	return &PayPal{
		webhookIDs:   ids,
		certificates: newPayPalCertificates(c),
		window:       window{past: limit, future: limit},
	}, nil
}

// paypalTolerance is a day more than PayPal tries to deliver.
const paypalTolerance = 4 * 24 * time.Hour

// Verify implements [Verifier]. The certificate must be at paypal.com or a host
// below it, by https, where PayPal has certificates; issued to PayPal's signer of messages, and its chain must
// have led to a trusted root when the message was transmitted: the certificates
// of old messages have expired. Certificates that have proved themselves are kept.
//
// No signature is ErrSignatureMissing; another header missing, there twice or of
// another form, ErrSignatureMalformed. ErrUnavailable says that the certificate
// could not be fetched. SecretIndex is the place of the webhook's id. Whether an
// event is a test is told by the name in the certificate, which for the sandbox is
// another. All but ignored events must be fetched, see [Event.DeliveryID].
func (p *PayPal) Verify(ctx context.Context, d Delivery) ([]Event, error) {
	t, err := readPayPalTransmission(d.Header)
	if err != nil {
		return nil, err
	}
	certificate, err := p.certificates.of(ctx, t)
	if err != nil {
		return nil, err
	}
	checksum := paypalChecksum(d.Body)
	index := slices.IndexFunc(p.webhookIDs, func(id string) bool { return certificate.made(t, id, checksum) })
	if index < 0 {
		return nil, fmt.Errorf("%w: by the certificate for %d webhooks", ErrSignatureInvalid, len(p.webhookIDs))
	}
	p.certificates.keep(t.certURL, certificate)
	if err := p.window.check(t.sentAt, d.ReceivedAt); err != nil {
		return nil, err
	}
	event, err := parsePayPal(d.Body)
	if err != nil {
		return nil, err
	}
	event.SecretIndex, event.TestKnown, event.Test = index, true, certificate.sandbox
	event.DeliveryID, event.NeedsFetch = t.id, event.Kind != KindIgnored
	return []Event{event}, nil
}

// paypalTransmission is what the headers of a delivery say.
type paypalTransmission struct {
	id, time  string
	sentAt    time.Time
	certURL   string
	signature []byte
}

// readPayPalTransmission reads the five headers. The algorithm may only be the
// one that is documented.
func readPayPalTransmission(h http.Header) (paypalTransmission, error) {
	var t paypalTransmission
	if len(headerValues(h, "PAYPAL-TRANSMISSION-SIG")) == 0 {
		return t, fmt.Errorf("%w: header PAYPAL-TRANSMISSION-SIG", ErrSignatureMissing)
	}
	var algorithm, signature string
	for name, target := range map[string]*string{
		"PAYPAL-TRANSMISSION-SIG":  &signature,
		"PAYPAL-TRANSMISSION-ID":   &t.id,
		"PAYPAL-TRANSMISSION-TIME": &t.time,
		"PAYPAL-CERT-URL":          &t.certURL,
		"PAYPAL-AUTH-ALGO":         &algorithm,
	} {
		var err error
		if *target, err = headerValue(h, name); err != nil {
			return t, err
		}
	}
	if !strings.EqualFold(algorithm, "SHA256withRSA") {
		return t, fmt.Errorf("%w: algorithm %q", ErrSignatureMalformed, algorithm)
	}
	var errTime, errSignature error
	t.sentAt, errTime = time.Parse(time.RFC3339, t.time)
	t.signature, errSignature = base64Strict.DecodeString(signature)
	if errTime != nil || errSignature != nil {
		return t, fmt.Errorf("%w: time or signature not of its form", ErrSignatureMalformed)
	}
	if strings.Contains(t.id, "|") {
		return t, fmt.Errorf("%w: id with a bar", ErrSignatureMalformed)
	}
	return t, nil
}

// paypalChecksum is what is signed of the body. It is written without a sign: half
// of all bodies have one that is 2^31 or more.
func paypalChecksum(body []byte) string {
	return strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)
}

// made reports whether the certificate's key made the signature.
func (c paypalCertificate) made(t paypalTransmission, webhookID, checksum string) bool {
	sum := sha256.Sum256([]byte(strings.Join([]string{t.id, t.time, webhookID, checksum}, "|")))
	return rsa.VerifyPKCS1v15(c.key, crypto.SHA256, sum[:], t.signature) == nil
}

// Ack implements [Verifier]: any 2xx, the body ignored.
func (p *PayPal) Ack(Delivery, []Event) Ack { return OK() }

// About implements [Describer].
func (*PayPal) About() About {
	return About{
		Name:         "PayPal",
		Header:       "PAYPAL-TRANSMISSION-SIG (base64 RSA-SHA256 over id, time, webhook id and CRC-32 of the body), by the certificate at PAYPAL-CERT-URL",
		EventID:      "native: id (WH-…)",
		Ack:          "any 2xx",
		RetryHorizon: "up to 25 times over 3 days",
		Quirks: []string{
			"The webhook's id is signed but not sent: it must be configured.",
			"The body is covered by a CRC-32 only: each transmission id is taken once, four days of age are the limit (tolerance), and what an event says is asked for at the API before it counts. Of disputes and reversals, which the API does not tell with the payment, only the payment is asked for.",
			"The certificate is fetched, from paypal.com only; if its issuer is not sent with it, put that one into cert_roots.",
			"CHECKOUT.ORDER.APPROVED is not a payment: the order must be captured.",
			"Of a refund the capture is only named by the link \"up\".",
			"Events of the webhook simulator can't be verified.",
		},
		Setup: [5]string{
			"Developer dashboard, Apps & Credentials, the app, Webhooks: add the address of the account's endpoint (https, port 443).",
			"Choose Checkout order and payment approval, Payment authorization, Payment capture, Payment refund and Customer dispute events.",
			"Copy the webhook's id into webhook_id of the account.",
			"Send the payment attempt's id as custom_id of the purchase unit.",
			"Make a payment in the sandbox: the simulator's events are refused.",
		},
	}
}
