package robokassa

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/md5"  //nolint:gosec // the scheme's default
	"crypto/sha1" //nolint:gosec // one of the scheme's
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// Verifier is safe for concurrent use.
type Verifier struct {
	passwords []string
	hash      func() hash.Hash
	currency  string
}

// hashes are the hashes that a shop can choose, without ripemd160, because Go lacks it.
var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
}

// New returns a verifier by [webhooks.Config.Secrets], the shop's Password2 (for test payments there is another). None,
// or an empty one, wraps ErrConfig. [webhooks.Config.Params]: "hash" as chosen in the shop's technical settings, md5 if
// not set; "currency" of OutSum, RUB if not set.
func New(c webhooks.Config) (*Verifier, error) {
	if _, err := read.Keys(c); err != nil {
		return nil, err
	}
	name := strings.ToLower(cmp.Or(c.Params["hash"], "md5"))
	algorithm, known := hashes[name]
	if !known {
		return nil, fmt.Errorf("%w: hash %q is not supported: choose sha256 in the shop's settings", webhooks.ErrConfig, name)
	}
	return &Verifier{
		passwords: slices.Clone(c.Secrets), hash: algorithm,
		currency: cmp.Or(c.Params["currency"], "RUB"),
	}, nil
}

// Verify implements [webhooks.Verifier]. OutSum is hashed as it was received, with all its zeros; the signature may be
// in either case. Fee, EMail, PaymentMethod and the like are not signed, and not read.
//
// No SignatureValue is ErrSignatureMissing. A body that is not a form is ErrSignatureMalformed. So is a form with a signed
// text that could be split in another way: two values of one name, an InvId or OutSum with a ":", or Shp_ values that could
// be read as more Shp_ values.
func (r *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	result, err := readForm(formText(d))
	if err != nil {
		return nil, err
	}
	got, err := hex.DecodeString(result.signature)
	if err != nil {
		return nil, fmt.Errorf("%w: SignatureValue is not hexadecimal", webhooks.ErrSignatureInvalid)
	}
	index := slices.IndexFunc(r.passwords, func(password string) bool {
		return hmac.Equal(got, result.sum(r.hash, password))
	})
	if index < 0 {
		return nil, fmt.Errorf("%w: none of %d passwords matches", webhooks.ErrSignatureInvalid, len(r.passwords))
	}
	return read.By(index, r.Read(d)), nil
}

// Read implements [webhooks.Reader].
func (r *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	var event webhooks.Event
	result, err := readForm(formText(d))
	if err == nil {
		event, err = result.event(r.currency)
	}
	return read.One([]byte(formText(d)), event, err)
}

// formText is the form, in the body or, by GET, in the address.
func formText(d webhooks.Delivery) string {
	if d.Method == http.MethodGet {
		return read.Query(d)
	}
	return string(d.Body)
}

// Sign implements [webhooks.Signer]: it adds SignatureValue to the form. It returns ErrPayload if the body is not a form,
// and ErrSignatureMalformed if Verify would refuse to read the form.
func (r *Verifier) Sign(d *webhooks.Delivery) error {
	fields, err := url.ParseQuery(formText(*d))
	if err != nil {
		return fmt.Errorf("%w: not a form: %w", webhooks.ErrPayload, err)
	}
	fields.Set("SignatureValue", "00")
	result, err := readForm(fields.Encode())
	if err != nil {
		return err
	}
	fields.Set("SignatureValue", strings.ToUpper(hex.EncodeToString(result.sum(r.hash, r.passwords[0]))))
	if d.Method == http.MethodGet {
		address, _, _ := strings.Cut(d.URL, "?")
		d.URL = address + "?" + fields.Encode()
		return nil
	}
	d.Body = []byte(fields.Encode())
	return nil
}

// Ack implements [webhooks.Verifier]: 200 and "OK" with the InvId.
func (r *Verifier) Ack(d webhooks.Delivery, _ []webhooks.Event) webhooks.Ack {
	ack := webhooks.Ack{Status: http.StatusOK, ContentType: "text/plain", Body: []byte("OK")}
	if result, err := readForm(formText(d)); err == nil {
		ack.Body = append(ack.Body, result.invoice...)
	}
	return ack
}
