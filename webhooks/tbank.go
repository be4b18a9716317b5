package webhooks

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// TBank verifies and makes notifications of T-Bank acquiring
// (https://www.tbank.ru/kassa/dev/payments/, "Token"): the member Token of the body
// is the hex of a SHA-256 over the values of the root's texts, numbers and booleans
// and of Password, sorted by name and joined. Objects and lists, such as DATA and
// Receipt, are not covered, and nothing is read of them.
//
// It is safe for concurrent use.
type TBank struct {
	passwords []string
	terminal  string
	currency  string
}

// NewTBank returns a verifier by [Config.Secrets], the terminal's passwords. None,
// or an empty one, wraps ErrConfig. [Config.Params]: "terminal_key", when set, must
// be the one of the notification, since two terminals could have one password;
// "currency" is the terminal's, RUB if not set, because notifications name none.
func NewTBank(c Config) (*TBank, error) {
	if _, err := textKeys(c); err != nil {
		return nil, err
	}
	return &TBank{
		passwords: slices.Clone(c.Secrets), terminal: c.Params["terminal_key"],
		currency: cmp.Or(c.Params["currency"], "RUB"),
	}, nil
}

// Verify implements [Verifier]. Numbers are taken as they are written: an id of
// twenty digits does not survive a floating-point number. A member Password in the
// body never counts. A body that is not a JSON object in UTF-8 is
// ErrSignatureMalformed, one without Token ErrSignatureMissing.
//
// The values are joined without anything between them, so that the scheme itself
// can't tell "1"+"23" from "12"+"3": an amount should be compared with the order's.
func (t *TBank) Verify(_ context.Context, d Delivery) ([]Event, error) {
	object := members(d.Body)
	if object == nil || !utf8.Valid(d.Body) {
		return nil, fmt.Errorf("%w: not a JSON object", ErrSignatureMalformed)
	}
	fields := scalars(object)
	if fields["Token"] == "" {
		return nil, fmt.Errorf("%w: Token", ErrSignatureMissing)
	}
	got, err := hex.DecodeString(fields["Token"])
	if err != nil {
		return nil, fmt.Errorf("%w: Token is not hexadecimal", ErrSignatureInvalid)
	}
	index := slices.IndexFunc(t.passwords, func(password string) bool {
		return hmac.Equal(got, tbankToken(fields, password))
	})
	if index < 0 {
		return nil, fmt.Errorf("%w: none of %d passwords matches", ErrSignatureInvalid, len(t.passwords))
	}
	if t.terminal != "" && fields["TerminalKey"] != t.terminal {
		return nil, fmt.Errorf("%w: of another terminal", ErrSignatureInvalid)
	}
	event, err := parseTBank(d, fields, t.currency)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = index
	return []Event{event}, nil
}

// tbankToken returns the sum that proves the fields.
func tbankToken(fields map[string]string, password string) []byte {
	signed := maps.Clone(fields)
	delete(signed, "Token")
	signed["Password"] = password
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(signed)) {
		text.WriteString(signed[name])
	}
	sum := sha256.Sum256([]byte(text.String()))
	return sum[:]
}

// Sign implements [Signer]: it writes the body anew, with its Token. A body that is
// not a JSON object in UTF-8 is ErrPayload.
func (t *TBank) Sign(d *Delivery) error {
	object := members(d.Body)
	if object == nil || !utf8.Valid(d.Body) {
		return fmt.Errorf("%w: not a JSON object", ErrPayload)
	}
	token := tbankToken(scalars(object), t.passwords[0])
	d.Body = withMember(object, "Token", jsonOf(hex.EncodeToString(token)))
	return nil
}

// Ack implements [Verifier]: 200 and exactly "OK".
func (t *TBank) Ack(Delivery, []Event) Ack {
	return Ack{Status: http.StatusOK, ContentType: "text/plain", Body: []byte("OK")}
}

// About implements [Describer].
func (*TBank) About() About {
	return About{
		Name:         "T-Bank (Tinkoff)",
		Header:       "the body's Token (hex SHA-256 over the sorted root values and the password)",
		EventID:      "derived: PaymentId, Status, Amount; one for each arrival where the bank must be asked",
		Ack:          "200 with the body OK, within 10 s",
		RetryHorizon: "hourly for 24 hours; then archived, or daily for a month: the bank's pages differ",
		Quirks: []string{
			"Values are joined with nothing between them, so that amounts must be compared with the order's.",
			"PaymentId is a number of up to twenty digits.",
			"The same address gets notifications about cards, accounts and receipts: they are ignored, REJECTED of a card included.",
			"AUTHORIZED and CONFIRMED of a one-stage payment come at the same moment, in any order.",
			"What the amount of a partial refund or reversal means is not documented: the payment is asked for.",
			"Documented senders, for allowed_ips: 91.194.226.0/23, 91.218.132.0/22, 212.49.24.0/24, 212.233.80.0/22.",
			"The tokens printed in the bank's samples are dummies that don't verify.",
		},
		Setup: [5]string{
			"T-Business, Internet acquiring, the shop, Terminals: choose the terminal.",
			"Set its notifications to HTTP with the address of the account's endpoint.",
			"Copy TerminalKey into terminal_key and the password into webhook_secrets.",
			"Send the payment attempt's id as OrderId.",
			"Pay with a test card on the DEMO terminal and look for the event.",
		},
	}
}
