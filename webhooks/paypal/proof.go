package paypal

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

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// Verifier is safe for concurrent use.
type Verifier struct {
	webhookIDs   []string
	certificates *certStore
	window       read.Window
}

// New returns a verifier by [webhooks.Config.Params] "webhook_id", the id that PayPal gave the webhook; several may be
// given, with commas between, while one takes over from another. None wraps ErrConfig.
//
// [webhooks.Config.Certificate] fetches certificates; without it Verify returns ErrConfig. [webhooks.Config.Roots] are
// the trusted roots; if PayPal sends its certificate without the issuer's certificate, add that to Roots.
//
// [webhooks.Config.Tolerance] limits the age of a transmission in either direction. PayPal documents no limit and tries
// for 3 days, so 0 is four days. A CRC-32 is easily made to match: the headers of one genuine delivery could be used
// for another body. A negative one is no limit.
func New(c webhooks.Config) (*Verifier, error) {
	ids := strings.FieldsFunc(c.Params["webhook_id"], func(r rune) bool { return r == ',' || r == ' ' })
	if len(ids) == 0 {
		return nil, fmt.Errorf("%w: no webhook_id", webhooks.ErrConfig)
	}
	limit := read.Tolerance(c, maxAge)
	return &Verifier{
		webhookIDs:   ids,
		certificates: newCertStore(c),
		window:       read.Window{Past: limit, Future: limit},
	}, nil
}

// maxAge is a day more than PayPal tries to deliver.
const maxAge = 4 * 24 * time.Hour

// Verify implements [webhooks.Verifier]. The certificate must be at paypal.com or a host below it, by https, where
// PayPal has certificates; issued to PayPal's signer of messages, and its chain must have led to a trusted root when
// the message was transmitted: the certificates of old messages have expired. Certificates that have proved themselves
// are kept.
//
// No signature is ErrSignatureMissing; another header missing, there twice or of another form, ErrSignatureMalformed.
// ErrUnavailable means that the certificate could not be fetched. SecretIndex is the place of the webhook's id. Whether
// an event is a test is decided by the name in the certificate, which for the sandbox is another. All but ignored
// events must be fetched, see [webhooks.Event.DeliveryID].
func (p *Verifier) Verify(ctx context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	t, err := readTransmission(d.Header)
	if err != nil {
		return nil, err
	}
	certificate, err := p.certificates.of(ctx, t)
	if err != nil {
		return nil, err
	}
	checksum := checksumOf(d.Body)
	index := slices.IndexFunc(p.webhookIDs, func(id string) bool { return certificate.made(t, id, checksum) })
	if index < 0 {
		return nil, fmt.Errorf("%w: by the certificate for %d webhooks", webhooks.ErrSignatureInvalid, len(p.webhookIDs))
	}
	p.certificates.keep(t.certURL, certificate)
	if err := p.window.Check(t.sentAt, d.ReceivedAt); err != nil {
		return nil, err
	}
	events := read.By(index, p.Read(d))
	for i := range events {
		events[i].Mode, events[i].DeliveryID = read.ModeOf(certificate.sandbox), t.id
	}
	return events, nil
}

// Read implements [webhooks.Reader].
func (p *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	event, err := parse(d.Body)
	event.NeedsFetch = event.Kind != webhooks.KindIgnored
	return read.One(d.Body, event, err)
}

// transmission holds the signature headers of a delivery.
type transmission struct {
	id, time  string
	sentAt    time.Time
	certURL   string
	signature []byte
}

// readTransmission reads the five headers. The algorithm may only be the one that is documented.
func readTransmission(h http.Header) (transmission, error) {
	var t transmission
	if len(read.HeaderValues(h, "PAYPAL-TRANSMISSION-SIG")) == 0 {
		return t, fmt.Errorf("%w: header PAYPAL-TRANSMISSION-SIG", webhooks.ErrSignatureMissing)
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
		if *target, err = read.HeaderValue(h, name); err != nil {
			return t, err
		}
	}
	if !strings.EqualFold(algorithm, "SHA256withRSA") {
		return t, fmt.Errorf("%w: algorithm %q", webhooks.ErrSignatureMalformed, algorithm)
	}
	var errTime, errSignature error
	t.sentAt, errTime = time.Parse(time.RFC3339, t.time)
	t.signature, errSignature = read.Base64.DecodeString(signature)
	if errTime != nil || errSignature != nil {
		return t, fmt.Errorf("%w: time or signature not of its form", webhooks.ErrSignatureMalformed)
	}
	if strings.Contains(t.id, "|") {
		return t, fmt.Errorf("%w: id with a bar", webhooks.ErrSignatureMalformed)
	}
	return t, nil
}

// checksumOf returns the body's CRC-32 in decimal, which is the signed form of the body. It is unsigned: for half of all
// bodies the value is 2^31 or more.
func checksumOf(body []byte) string {
	return strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)
}

// made reports whether the certificate's key made the signature.
func (c signerCert) made(t transmission, webhookID, checksum string) bool {
	sum := sha256.Sum256([]byte(strings.Join([]string{t.id, t.time, webhookID, checksum}, "|")))
	return rsa.VerifyPKCS1v15(c.key, crypto.SHA256, sum[:], t.signature) == nil
}

// Ack implements [webhooks.Verifier]: any 2xx, the body ignored.
func (p *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack { return webhooks.OK() }
