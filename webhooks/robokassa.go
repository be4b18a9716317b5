package webhooks

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
)

// Robokassa verifies and makes notifications to the ResultURL of Robokassa
// (https://docs.robokassa.ru/pay-interface/#notification): a form, or a query
// string, whose SignatureValue is the hex of a hash over
// "OutSum:InvId:Password2" and the merchant's own parameters,
// ":Shp_name=value", sorted by name. The browser's return to SuccessURL is signed
// by Password1 and proves nothing.
//
// It is safe for concurrent use.
type Robokassa struct {
	passwords []string
	hash      func() hash.Hash
	currency  string
}

// robokassaHashes are the hashes that a shop can choose, but for ripemd160, which
// Go does not have.
var robokassaHashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
}

// NewRobokassa returns a verifier by [Config.Secrets], the shop's Password2 (for
// test payments there is another). None, or an empty one, wraps ErrConfig.
// [Config.Params]: "hash" as chosen in the shop's technical settings, md5 if not
// set; "currency" of OutSum, RUB if not set.
func NewRobokassa(c Config) (*Robokassa, error) {
	if _, err := textKeys(c); err != nil {
		return nil, err
	}
	name := strings.ToLower(cmp.Or(c.Params["hash"], "md5"))
	algorithm, known := robokassaHashes[name]
	if !known {
		return nil, fmt.Errorf("%w: hash %q is not supported: choose sha256 in the shop's settings", ErrConfig, name)
	}
	return &Robokassa{
		passwords: slices.Clone(c.Secrets), hash: algorithm,
		currency: cmp.Or(c.Params["currency"], "RUB"),
	}, nil
}

// Verify implements [Verifier]. OutSum is hashed as it was received, with all its
// zeros; the signature may be in either case. Fee, EMail, PaymentMethod and the
// like are not signed, and not read.
//
// No SignatureValue is ErrSignatureMissing. What is not a form, an InvId or OutSum
// that is not a number, and Shp_ values that could be taken for more of them are
// ErrSignatureMalformed.
func (r *Robokassa) Verify(_ context.Context, d Delivery) ([]Event, error) {
	result, err := readRobokassa(robokassaText(d))
	if err != nil {
		return nil, err
	}
	got, err := hex.DecodeString(result.signature)
	if err != nil {
		return nil, fmt.Errorf("%w: SignatureValue is not hexadecimal", ErrSignatureInvalid)
	}
	index := slices.IndexFunc(r.passwords, func(password string) bool {
		return hmac.Equal(got, result.sum(r.hash, password))
	})
	if index < 0 {
		return nil, fmt.Errorf("%w: none of %d passwords matches", ErrSignatureInvalid, len(r.passwords))
	}
	event, err := result.event(r.currency)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = index
	return []Event{event}, nil
}

// robokassaText is the form, in the body or, by GET, in the address.
func robokassaText(d Delivery) string {
	if d.Method == http.MethodGet {
		return queryOf(d)
	}
	return string(d.Body)
}

// Sign implements [Signer]: it adds SignatureValue to the form. What is not a form is
// ErrPayload, and what Verify would refuse to read ErrSignatureMalformed.
func (r *Robokassa) Sign(d *Delivery) error {
	fields, err := url.ParseQuery(robokassaText(*d))
	if err != nil {
		return fmt.Errorf("%w: not a form: %w", ErrPayload, err)
	}
	fields.Set("SignatureValue", "00")
	result, err := readRobokassa(fields.Encode())
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

// Ack implements [Verifier]: 200 and "OK" with the InvId.
func (r *Robokassa) Ack(d Delivery, _ []Event) Ack {
	ack := Ack{Status: http.StatusOK, ContentType: "text/plain", Body: []byte("OK")}
	if result, err := readRobokassa(robokassaText(d)); err == nil {
		ack.Body = append(ack.Body, result.invoice...)
	}
	return ack
}

// About implements [Describer].
func (*Robokassa) About() About {
	return About{
		Name:         "Robokassa",
		Header:       "the form's SignatureValue (hex hash over OutSum:InvId:Password2 and the Shp_ parameters)",
		EventID:      "derived: InvId",
		Ack:          "200 with the body OK and the InvId, as in OK58",
		RetryHorizon: "again and again, minutes apart; the end is not documented",
		Quirks: []string{
			"Only a payment that succeeded is notified: failures are found by asking.",
			"The hash is chosen in the shop's settings; ripemd160 is not supported.",
			"OutSum counts as it was received: 100 and 100.00 are signed differently.",
			"InvId is a number, so that the payment attempt's id travels as Shp_payment_attempt_id.",
			"Test payments are signed by the test Password2.",
			"Documented senders, for allowed_ips: 185.59.216.65 and 185.59.217.65.",
		},
		Setup: [5]string{
			"Cabinet, My shops, Technical settings: set ResultURL to the address of the account's endpoint, method POST.",
			"Choose the hash there (sha256 is better than md5) and put its name into hash.",
			"Put Password2 into webhook_secrets, and the test Password2 beside it while testing.",
			"Put the shop's identifier into merchant_login.",
			"Make a test payment: Robokassa shows an error if it is not answered OK and the InvId.",
		},
	}
}
