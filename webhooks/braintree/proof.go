package braintree

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

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// Verifier is safe for concurrent use.
type Verifier struct{ keys []keyPair }

// keyPair is a pair of API keys.
type keyPair struct {
	public string
	key    []byte
}

// New returns a verifier by [webhooks.Config.Secrets], private keys of the API, and Params["public_key"], the public
// key of each in the same order, with commas between them; a single one goes with all secrets. No key, an empty one, or
// another number of public ones, wraps ErrConfig.
func New(c webhooks.Config) (*Verifier, error) {
	privates, err := read.Keys(c)
	if err != nil {
		return nil, err
	}
	publics := strings.Split(c.Params["public_key"], ",")
	if len(publics) != 1 && len(publics) != len(privates) {
		return nil, fmt.Errorf("%w: %d public keys for %d secrets", webhooks.ErrConfig, len(publics), len(privates))
	}
	keys := make([]keyPair, len(privates))
	for i, private := range privates {
		public := strings.TrimSpace(publics[i%len(publics)])
		if public == "" {
			return nil, fmt.Errorf("%w: public_key %d is empty", webhooks.ErrConfig, i)
		}
		sum := sha1.Sum(private) //nolint:gosec // see the import
		keys[i] = keyPair{public: public, key: sum[:]}
	}
	return &Verifier{keys: keys}, nil
}

// Verify implements [webhooks.Verifier]. A signature counts only beside the public key that belongs to the secret;
// others are skipped. The payload is tried as it is and with a line feed after it, which some senders lose, as the
// official libraries do. A missing bt_signature is ErrSignatureMissing; a body that is not a form, and a payload with
// other characters than base64 and line feeds, or of a challenge's form, ErrSignatureMalformed.
//
// Braintree sends no event id. The id is derived from the kind, the timestamp and the ids of the notification's subject.
// There is no age limit either; the timestamp is inside the signed payload.
func (b *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	payload, sums, err := readForm(d.Body)
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
		return nil, fmt.Errorf("%w: none of %d keys matches", webhooks.ErrSignatureInvalid, len(b.keys))
	}
	return read.By(index, b.Read(d)), nil
}

// Read implements [webhooks.Reader].
func (b *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	var event webhooks.Event
	payload, _, err := readForm(d.Body)
	if err == nil {
		event, err = parse(payload)
	}
	return read.One([]byte(payload), event, err)
}

// payloadForm matches the characters that a payload may contain.
var payloadForm = regexp.MustCompile(`^[A-Za-z0-9+/=\n]+$`)

// readForm returns the payload and the signatures by public key.
func readForm(body []byte) (payload string, sums map[string][][]byte, err error) {
	form, err := read.Form(string(body), read.Only("bt_payload", "bt_signature"))
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", webhooks.ErrSignatureMalformed, err)
	}
	payload = form["bt_payload"]
	switch {
	case form["bt_signature"] == "":
		return "", nil, fmt.Errorf("%w: bt_signature", webhooks.ErrSignatureMissing)
	case !payloadForm.MatchString(payload):
		return "", nil, fmt.Errorf("%w: bt_payload is not base64", webhooks.ErrSignatureMalformed)
	case challengeForm.MatchString(strings.Trim(payload, "\n")):
		return "", nil, fmt.Errorf("%w: bt_payload is a challenge, which anybody can have signed", webhooks.ErrSignatureMalformed)
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
func (k keyPair) made(sums [][]byte, payload string) bool {
	keys := [][]byte{k.key}
	return read.Match(sha1.New, keys, sums, []byte(payload)) == 0 ||
		read.Match(sha1.New, keys, sums, []byte(payload), []byte("\n")) == 0
}

// sign returns the public key's name, "|" and the signature.
func (k keyPair) sign(text string) string {
	return k.public + "|" + hex.EncodeToString(read.MAC(sha1.New, k.key, []byte(text)))
}

// Sign implements [webhooks.Signer]. The body must be the XML notification; Sign makes it the form that Braintree would
// send.
func (b *Verifier) Sign(d *webhooks.Delivery) error {
	payload := read.Base64.EncodeToString(d.Body) + "\n"
	form := url.Values{"bt_payload": {payload}, "bt_signature": {b.keys[0].sign(payload)}}
	d.Body = []byte(form.Encode())
	read.SetHeader(d, "Content-Type", "application/x-www-form-urlencoded")
	return nil
}

// challengeForm is the only text that is signed on demand. Twenty to thirty-two hex digits are refused as a payload: as
// base64 they are no XML.
var challengeForm = regexp.MustCompile(`^[0-9a-f]{20,32}$`)

// Challenge implements [webhooks.Challenger]: when a webhook is set up, Braintree calls the address with
// ?bt_challenge=<hex>, and wants that signed by the account's key, the first one configured. A challenge of another
// form is answered with 400.
func (b *Verifier) Challenge(d webhooks.Delivery) (webhooks.Ack, bool) {
	query, err := url.ParseQuery(read.Query(d))
	if err != nil || !query.Has("bt_challenge") {
		return webhooks.Ack{}, false
	}
	challenge := query.Get("bt_challenge")
	if cmp.Or(d.Method, http.MethodGet) != http.MethodGet || !challengeForm.MatchString(challenge) {
		return webhooks.Ack{Status: http.StatusBadRequest}, true
	}
	return webhooks.Ack{
		Status: http.StatusOK, ContentType: "text/plain; charset=utf-8",
		Body: []byte(b.keys[0].sign(challenge)),
	}, true
}

// Ack implements [webhooks.Verifier]: any 2xx within 30 s, the body ignored.
func (b *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack { return webhooks.OK() }
