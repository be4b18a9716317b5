package webhooks

import (
	"context"
	"fmt"
	"regexp"
)

// Mollie verifies and makes deliveries of Mollie
// (https://docs.mollie.com/reference/webhooks), which come in two forms to the
// same address: the classic one, a form with the id of a payment and no
// signature, and the next generation's, JSON with X-Mollie-Signature.
//
// It is safe for concurrent use.
type Mollie struct{ mac bodyMAC }

// NewMollie returns a verifier by [Config.Secrets], the signing secrets of the
// next-generation webhooks, the whole text each; none means that only classic
// notices are taken. An empty secret wraps ErrConfig.
func NewMollie(c Config) (*Mollie, error) {
	m := &Mollie{mac: bodyMAC{header: "X-Mollie-Signature", prefix: "sha256="}}
	if len(c.Secrets) == 0 {
		return m, nil
	}
	keys, err := textKeys(c)
	if err != nil {
		return nil, err
	}
	m.mac.keys = keys
	return m, nil
}

// Verify implements [Verifier]. JSON must be signed: "sha256=" (which may be
// left out, as Mollie's own library allows) and the hex HMAC-SHA256 of the body.
// No header is ErrSignatureMissing, one that no secret made ErrSignatureInvalid.
// For 24 hours after a rotation the header comes twice; one good value is enough.
//
// A form is a classic notice: it proves nothing but that somebody knows an id, so
// that it is KindNotice with NeedsFetch, an id of its own for each arrival and
// SecretIndex -1, whether secrets are configured or not (payments made with a
// webhookUrl are announced in no other way). A signature that stands beside a
// form is checked all the same. The id goes into the path of a call to Mollie:
// one that is not letters, "_", letters and digits is ErrPayload. A classic
// notice should be answered as received even if Mollie knows no such payment.
func (m *Mollie) Verify(_ context.Context, d Delivery) ([]Event, error) {
	object := isObject(d.Body)
	signed := len(m.mac.keys) > 0 && len(headerValues(d.Header, m.mac.header)) > 0
	if !object && !signed {
		return m.verifyClassic(d)
	}
	index, err := m.mac.match(d)
	if err != nil {
		return nil, err
	}
	event, err := readMollie(d, object)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = index
	return []Event{event}, nil
}

func readMollie(d Delivery, object bool) (Event, error) {
	if object {
		return parseMollie(d.Body)
	}
	return parseMollieClassic(d)
}

func (m *Mollie) verifyClassic(d Delivery) ([]Event, error) {
	event, err := parseMollieClassic(d)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = -1
	return []Event{event}, nil
}

// Sign implements [Signer]: it sets X-Mollie-Signature. Without a secret there is
// nothing to sign with, and classic notices need none: ErrConfig.
func (m *Mollie) Sign(d *Delivery) error { return m.mac.sign(d) }

// Ack implements [Verifier]: any 2xx within 15 s, the body ignored.
func (m *Mollie) Ack(Delivery, []Event) Ack { return OK() }

// About implements [Describer].
func (*Mollie) About() About {
	return About{
		Name:         "Mollie",
		Header:       "classic: nothing, the payment must be asked for; next generation: X-Mollie-Signature (sha256= and a hex HMAC-SHA256 over the body)",
		EventID:      "classic: derived, one for each arrival: the object's id, time; what the fetch finds is what is deduplicated; next generation: native: id (event_… or whe_…)",
		Ack:          "any 2xx within 15 s, also for an id that Mollie does not know",
		RetryHorizon: "10 tries over about 26 hours",
		Quirks: []string{
			"A classic notice says nothing but an id, and comes for refunds and chargebacks too: status stays paid, the amounts tell.",
			"For 24 hours after a secret is rotated the signature's header comes twice.",
			"payment.*, refund.*, capture.* and chargeback.* of the next generation are read as Mollie's API description has them; the classic notice, which is asked about, is the normal way.",
			"An event without a payload (_embedded) is asked about. One of a refund, capture or chargeback says whose it is by _links.entity alone, and waits for a person where that is missing.",
			"capture.failed leaves the money held: it is no failure of the payment.",
			"A chargeback has taken the money already; chargeback.reversed brings it back.",
		},
		Setup: [5]string{
			"Put the address of the account's endpoint into public_url: each payment's webhookUrl is set to it.",
			"Put the API key of the profile into api_key: without it a notice can't be looked up.",
			"For webhooks of the next generation: Developers, Webhooks, add the same address with payment.*, refund.*, capture.* and chargeback.*; choose the full payload.",
			"Copy the signing secret that is shown once into webhook_secrets.",
			"To rotate, put the new secret beside the old one for a day.",
		},
	}
}

// mollieForm is the form of Mollie's ids. They end up in the path of a call.
const mollieForm = `[A-Za-z]{1,16}_[A-Za-z0-9]{1,64}`

var (
	mollieID   = regexp.MustCompile(`^` + mollieForm + `$`)
	molliePart = regexp.MustCompile(`/v2/payments/(` + mollieForm + `)/`)
)

func parseMollieClassic(d Delivery) (Event, error) {
	form, err := formFields(string(d.Body))
	if err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	id := form["id"]
	if !mollieID.MatchString(id) {
		return Event{}, fmt.Errorf("%w: form without an id of Mollie's", ErrPayload)
	}
	return noticeOf(d, id), nil
}
