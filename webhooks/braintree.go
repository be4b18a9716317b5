package webhooks

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // Braintree's scheme is HMAC-SHA1 by a SHA-1 key; HMAC does not rest on what SHA-1 lost
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// Braintree verifies and makes deliveries of Braintree
// (https://developer.paypal.com/braintree/docs/guides/webhooks/parse): a form with
// bt_payload, base64 of XML, and bt_signature, "<public key>|<hex HMAC-SHA1>",
// several of them joined by "&". The key is the SHA-1 digest of the private key,
// as Braintree's libraries have it.
//
// It is safe for concurrent use.
type Braintree struct{ keys []braintreeKey }

// braintreeKey is a pair of API keys.
type braintreeKey struct {
	public string
	key    []byte
}

// NewBraintree returns a verifier by [Config.Secrets], private keys of the API,
// and Params["public_key"], the public key of each in the same order, with commas
// between them; a single one goes with all secrets. No key, an empty one, or
// another number of public ones, wraps ErrConfig.
func NewBraintree(c Config) (*Braintree, error) {
	privates, err := textKeys(c)
	if err != nil {
		return nil, err
	}
	publics := strings.Split(c.Params["public_key"], ",")
	if len(publics) != 1 && len(publics) != len(privates) {
		return nil, fmt.Errorf("%w: %d public keys for %d secrets", ErrConfig, len(publics), len(privates))
	}
	keys := make([]braintreeKey, len(privates))
	for i, private := range privates {
		public := strings.TrimSpace(publics[i%len(publics)])
		if public == "" {
			return nil, fmt.Errorf("%w: public_key %d is empty", ErrConfig, i)
		}
		sum := sha1.Sum(private) //nolint:gosec // see the import
		keys[i] = braintreeKey{public: public, key: sum[:]}
	}
	return &Braintree{keys: keys}, nil
}

// Verify implements [Verifier]. A signature counts only beside the public key that
// belongs to the secret; others are skipped. The payload is tried as it is and
// with a line feed after it, which some senders lose, as the official libraries
// do. A missing bt_signature is ErrSignatureMissing; a body that is not a form,
// and a payload with other characters than base64 and line feeds,
// ErrSignatureMalformed.
//
// There is no event id: it is derived from the kind, the timestamp and the ids of
// what the notification speaks of. There is no age limit either; the timestamp is
// inside what is signed.
func (b *Braintree) Verify(_ context.Context, d Delivery) ([]Event, error) {
	payload, sums, err := readBraintree(d.Body)
	if err != nil {
		return nil, err
	}
	index := -1
	for i, key := range b.keys {
		if index < 0 && key.made(sums[key.public], payload) {
			index = i
		}
	}
	if index < 0 {
		return nil, fmt.Errorf("%w: none of %d keys matches", ErrSignatureInvalid, len(b.keys))
	}
	event, err := parseBraintree(payload)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = index
	return []Event{event}, nil
}

// braintreePayload is what a payload may be made of.
var braintreePayload = regexp.MustCompile(`^[A-Za-z0-9+/=\n]+$`)

// readBraintree returns the payload and the signatures by public key.
func readBraintree(body []byte) (payload string, sums map[string][][]byte, err error) {
	form, err := formFields(string(body))
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrSignatureMalformed, err)
	}
	payload = form["bt_payload"]
	switch {
	case form["bt_signature"] == "":
		return "", nil, fmt.Errorf("%w: bt_signature", ErrSignatureMissing)
	case !braintreePayload.MatchString(payload):
		return "", nil, fmt.Errorf("%w: bt_payload is not base64", ErrSignatureMalformed)
	}
	sums = map[string][][]byte{}
	for pair := range strings.SplitSeq(form["bt_signature"], "&") {
		public, text, _ := strings.Cut(pair, "|")
		if sum, err := hex.DecodeString(text); err == nil {
			sums[public] = append(sums[public], sum)
		}
	}
	return payload, sums, nil
}

// made reports whether the key made one of the sums.
func (k braintreeKey) made(sums [][]byte, payload string) bool {
	keys := [][]byte{k.key}
	return matchMAC(sha1.New, keys, sums, []byte(payload)) == 0 ||
		matchMAC(sha1.New, keys, sums, []byte(payload), []byte("\n")) == 0
}

// sign returns what stands beside the public key's name.
func (k braintreeKey) sign(text string) string {
	return k.public + "|" + hex.EncodeToString(mac(sha1.New, k.key, []byte(text)))
}

// Sign implements [Signer]. The body must be the XML notification; Sign makes it
// the form that Braintree would send.
func (b *Braintree) Sign(d *Delivery) error {
	payload := base64Strict.EncodeToString(d.Body) + "\n"
	form := url.Values{"bt_payload": {payload}, "bt_signature": {b.keys[0].sign(payload)}}
	d.Body = []byte(form.Encode())
	setHeader(d, "Content-Type", "application/x-www-form-urlencoded")
	return nil
}

// braintreeChallenge is the only text that is signed for whoever asks. Twenty to
// thirty-two hex digits are no payload: as base64 they are no XML.
var braintreeChallenge = regexp.MustCompile(`^[0-9a-f]{20,32}$`)

// Challenge implements [Challenger]: when a webhook is set up, Braintree asks the
// address with ?bt_challenge=<hex>, and wants that signed by the account's key,
// the first one configured. A challenge of another form is answered with 400.
func (b *Braintree) Challenge(d Delivery) (Ack, bool) {
	query, err := url.ParseQuery(queryOf(d))
	if err != nil || !query.Has("bt_challenge") {
		return Ack{}, false
	}
	challenge := query.Get("bt_challenge")
	if cmp.Or(d.Method, http.MethodGet) != http.MethodGet || !braintreeChallenge.MatchString(challenge) {
		return Ack{Status: http.StatusBadRequest}, true
	}
	return Ack{
		Status: http.StatusOK, ContentType: "text/plain; charset=utf-8",
		Body: []byte(b.keys[0].sign(challenge)),
	}, true
}

// Ack implements [Verifier]: any 2xx within 30 s, the body ignored.
func (b *Braintree) Ack(Delivery, []Event) Ack { return OK() }

// About implements [Describer].
func (*Braintree) About() About {
	return About{
		Name:         "Braintree",
		Header:       "the form's bt_signature (the public key and a hex HMAC-SHA1 over bt_payload, which is base64 of XML)",
		EventID:      "derived: kind, timestamp and the ids of what it speaks of",
		Ack:          "any 2xx within 30 s",
		RetryHorizon: "hourly for 24 hours; sandbox: for 3 hours",
		Quirks: []string{
			"Setting the webhook up asks the address with ?bt_challenge=…, which is answered with a signature.",
			"Cards have no notification of their authorisation or capture: transaction_settled is for bank debits.",
			"local_payment_completed without a transaction is a hold: somebody has to make the sale, or it is reversed.",
			"transaction_settlement_declined of a refund may come after it had settled.",
			"Amounts are decimal texts; some notifications leave the currency out.",
		},
		Setup: [5]string{
			"Put the private key into webhook_secrets, the public key into public_key and the merchant id into merchant_id.",
			"Start the service: the next step asks its address at once.",
			"Control Panel, Settings, API, Webhooks: add the address of the account's endpoint.",
			"Choose transaction, local payment, dispute and refund notifications.",
			"Send the payment attempt's id as order_id of the transaction; press Check URL to try it.",
		},
	}
}
