package cloudpayments

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// Verifier is safe for concurrent use.
type Verifier struct {
	keys     [][]byte
	currency string
}

// New returns a verifier by [webhooks.Config.Secrets], the API secrets as they are. None, or an empty one, wraps
// ErrConfig. [webhooks.Config.Params] "currency" names the currency of amounts that come without a currency, as the
// amounts of refunds do; where it is not set, such an event has no Money. [webhooks.Event.Amount] has the amount either way.
func New(c webhooks.Config) (*Verifier, error) {
	keys, err := read.Keys(c)
	if err != nil {
		return nil, err
	}
	return &Verifier{keys: keys, currency: c.Params["currency"]}, nil
}

// Verify implements [webhooks.Verifier]. Without either header it is ErrSignatureMissing, with none that a secret made
// ErrSignatureInvalid. The two headers differ in whether the parameters were decoded before they were signed, and
// sources disagree which is which: so either header may hold a signature over either form. Over the decoded form only,
// a name or value that could be taken for more of them, or be decoded once more, is ErrSignatureMalformed: a delivery
// with both headers has the other form signed too.
func (c *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	values := slices.Concat(read.HeaderValues(d.Header, "Content-HMAC"), read.HeaderValues(d.Header, "X-Content-HMAC"))
	if len(values) == 0 {
		return nil, fmt.Errorf("%w: header Content-HMAC", webhooks.ErrSignatureMissing)
	}
	raw, sums := signedText(d), read.DecodeAll(values, read.Base64.DecodeString)
	index := read.Match(sha256.New, c.keys, sums, raw)
	if index < 0 {
		var err error
		if index, err = c.matchDecoded(sums, raw); err != nil {
			return nil, err
		}
	}
	return read.By(index, c.Read(d)), nil
}

// Read implements [webhooks.Reader].
func (c *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	raw := signedText(d)
	event, err := parse(d.Topic, raw, c.currency)
	return read.One(raw, event, err)
}

// matchDecoded returns the index of the key that signed the decoded form.
func (c *Verifier) matchDecoded(sums [][]byte, raw []byte) (int, error) {
	index := -1
	if decoded, ok := decodedForm(raw); ok {
		index = read.Match(sha256.New, c.keys, sums, decoded)
	}
	if index < 0 {
		return 0, fmt.Errorf("%w: none of %d secrets matches", webhooks.ErrSignatureInvalid, len(c.keys))
	}
	return index, checkClear(raw)
}

// decodedForm returns the decoded form, which JSON does not have.
func decodedForm(raw []byte) ([]byte, bool) {
	decoded, err := url.QueryUnescape(string(raw))
	return []byte(decoded), err == nil && !read.IsObject(raw) && !read.IsObject([]byte(decoded))
}

// checkClear returns an error for parameters that mean something else than their decoded form does, or could be another
// split of it: then that form may have been signed for other parameters.
func checkClear(raw []byte) error {
	fields, err := read.Form(string(raw), read.Every)
	if err != nil {
		return fmt.Errorf("%w: %w", webhooks.ErrSignatureMalformed, err)
	}
	for name, value := range fields {
		if strings.ContainsAny(name, "&=") || strings.Contains(value, "&") {
			return fmt.Errorf("%w: decoded parameters that could be split in two ways", webhooks.ErrSignatureMalformed)
		}
	}
	decoded, _ := decodedForm(raw)
	if again, err := read.Form(string(decoded), read.Every); err == nil && !maps.Equal(fields, again) {
		return fmt.Errorf("%w: decoded parameters that could be decoded again", webhooks.ErrSignatureMalformed)
	}
	return nil
}

// signedText returns the signed text, before any decoding.
func signedText(d webhooks.Delivery) []byte {
	if d.Method == http.MethodGet {
		return []byte(read.Query(d))
	}
	return d.Body
}

// Sign implements [webhooks.Signer]: it sets Content-HMAC over the raw form and X-Content-HMAC over the decoded one.
func (c *Verifier) Sign(d *webhooks.Delivery) error {
	raw := signedText(*d)
	decoded, ok := decodedForm(raw)
	if !ok {
		decoded = raw
	}
	read.SetHeader(d, "Content-HMAC", read.Base64.EncodeToString(read.MAC(sha256.New, c.keys[0], raw)))
	read.SetHeader(d, "X-Content-HMAC", read.Base64.EncodeToString(read.MAC(sha256.New, c.keys[0], decoded)))
	return nil
}

// Ack implements [webhooks.Verifier]: 200 with {"code":0}. To a question that is "no", because only [Verifier.Answer]
// has looked at the order, and to one that can't be read.
func (c *Verifier) Ack(_ webhooks.Delivery, events []webhooks.Event) webhooks.Ack {
	if slices.ContainsFunc(events, func(e webhooks.Event) bool {
		return e.Kind == webhooks.KindQuestion || e.Kind == webhooks.KindUnreadable && e.Type == topicCheck
	}) {
		return ackOf(codeRefused)
	}
	return ackOf(0)
}

// codeRefused is the code of "the payment can't be accepted".
const codeRefused = 13

// Answer implements [webhooks.Answerer]. CloudPayments' code for a wrong AccountId, 11, has no answer of its own: the
// account does not identify a payment here.
func (c *Verifier) Answer(_ webhooks.Delivery, a webhooks.Answer) webhooks.Ack {
	switch a {
	case webhooks.AnswerAccept:
		return ackOf(0)
	case webhooks.AnswerUnknown:
		return ackOf(10)
	case webhooks.AnswerAmount:
		return ackOf(12)
	case webhooks.AnswerExpired:
		return ackOf(20)
	case webhooks.AnswerRefuse:
	}
	return ackOf(codeRefused)
}

func ackOf(code int) webhooks.Ack {
	return webhooks.Ack{Status: http.StatusOK, ContentType: "application/json", Body: fmt.Appendf(nil, `{"code":%d}`, code)}
}
