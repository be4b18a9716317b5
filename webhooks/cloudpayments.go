package webhooks

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// CloudPayments verifies and makes deliveries of CloudPayments and TipTopPay
// (https://developers.cloudpayments.ru/#uvedomleniya): the headers Content-HMAC and
// X-Content-HMAC with the base64 of an HMAC-SHA256 over the body, or over the query
// string where the cabinet is set to GET.
//
// What a notification means is not in it but in the address to which it was sent:
// [Delivery.Topic] is check, pay, fail, confirm, refund, cancel, recurrent or
// receipt. It is not signed either, so that each address in the cabinet must end
// in the topic of its own. Without a topic a genuine delivery is KindIgnored.
//
// A check is a question ([KindQuestion]), to be answered by Answer. One of a payout or
// a refund is KindIgnored, which Ack answers with "yes".
//
// It is safe for concurrent use.
type CloudPayments struct {
	keys     [][]byte
	currency string
}

// NewCloudPayments returns a verifier by [Config.Secrets], the API secrets as they
// are. None, or an empty one, wraps ErrConfig. [Config.Params] "currency" names
// the currency of amounts that come without one, as those of refunds do; where it
// is not set, such an event has no Money. [Event.Amount] has the amount either way.
func NewCloudPayments(c Config) (*CloudPayments, error) {
	keys, err := textKeys(c)
	if err != nil {
		return nil, err
	}
	return &CloudPayments{keys: keys, currency: c.Params["currency"]}, nil
}

// Verify implements [Verifier]. Without either header it is ErrSignatureMissing,
// with none that a secret made ErrSignatureInvalid. The two headers differ in
// whether the parameters were decoded before they were signed, and sources
// disagree which is which: so either header may hold a signature over either form.
// Over the decoded form only, a name or value that could be taken for more of
// them, or be decoded once more, is ErrSignatureMalformed: a delivery with both
// headers has the other form signed too.
func (c *CloudPayments) Verify(_ context.Context, d Delivery) ([]Event, error) {
	values := slices.Concat(headerValues(d.Header, "Content-HMAC"), headerValues(d.Header, "X-Content-HMAC"))
	if len(values) == 0 {
		return nil, fmt.Errorf("%w: header Content-HMAC", ErrSignatureMissing)
	}
	raw, sums := cloudPaymentsText(d), decodeAll(values, base64Strict.DecodeString)
	index := matchMAC(sha256.New, c.keys, sums, raw)
	if index < 0 {
		var err error
		if index, err = c.matchDecoded(sums, raw); err != nil {
			return nil, err
		}
	}
	event, err := parseCloudPayments(d.Topic, raw, c.currency)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = index
	return []Event{event}, nil
}

// matchDecoded returns the index of the key that signed the decoded form.
func (c *CloudPayments) matchDecoded(sums [][]byte, raw []byte) (int, error) {
	index := -1
	if decoded, ok := cloudPaymentsDecoded(raw); ok {
		index = matchMAC(sha256.New, c.keys, sums, decoded)
	}
	if index < 0 {
		return 0, fmt.Errorf("%w: none of %d secrets matches", ErrSignatureInvalid, len(c.keys))
	}
	return index, cloudPaymentsClear(raw)
}

// cloudPaymentsDecoded returns the decoded form, which JSON does not have.
func cloudPaymentsDecoded(raw []byte) ([]byte, bool) {
	decoded, err := url.QueryUnescape(string(raw))
	return []byte(decoded), err == nil && !isObject(raw) && !isObject([]byte(decoded))
}

// cloudPaymentsClear returns an error for parameters that say something else than
// their decoded form does, or could be another split of it: then that form may
// have been signed for other parameters.
func cloudPaymentsClear(raw []byte) error {
	fields, err := formFields(string(raw))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSignatureMalformed, err)
	}
	for name, value := range fields {
		if strings.ContainsAny(name, "&=") || strings.Contains(value, "&") {
			return fmt.Errorf("%w: decoded parameters that could be split in two ways", ErrSignatureMalformed)
		}
	}
	decoded, _ := cloudPaymentsDecoded(raw)
	if again, err := formFields(string(decoded)); err == nil && !maps.Equal(fields, again) {
		return fmt.Errorf("%w: decoded parameters that could be decoded again", ErrSignatureMalformed)
	}
	return nil
}

// cloudPaymentsText is what was signed, before any decoding.
func cloudPaymentsText(d Delivery) []byte {
	if d.Method == http.MethodGet {
		return []byte(queryOf(d))
	}
	return d.Body
}

// Sign implements [Signer]: it sets Content-HMAC over the raw form and
// X-Content-HMAC over the decoded one.
func (c *CloudPayments) Sign(d *Delivery) error {
	raw := cloudPaymentsText(*d)
	decoded, ok := cloudPaymentsDecoded(raw)
	if !ok {
		decoded = raw
	}
	setHeader(d, "Content-HMAC", base64Strict.EncodeToString(mac(sha256.New, c.keys[0], raw)))
	setHeader(d, "X-Content-HMAC", base64Strict.EncodeToString(mac(sha256.New, c.keys[0], decoded)))
	return nil
}

// Ack implements [Verifier]: 200 with {"code":0}. To a question that is "no",
// because only [CloudPayments.Answer] has looked at the order.
func (c *CloudPayments) Ack(_ Delivery, events []Event) Ack {
	if slices.ContainsFunc(events, func(e Event) bool { return e.Kind == KindQuestion }) {
		return cloudPaymentsCode(cloudPaymentsRefuse)
	}
	return cloudPaymentsCode(0)
}

// cloudPaymentsRefuse is the code of "the payment can't be accepted".
const cloudPaymentsRefuse = 13

// Answer implements [Answerer]. CloudPayments' code for a wrong AccountId, 11, has
// no answer of its own: the account is not what identifies a payment here.
func (c *CloudPayments) Answer(_ Delivery, a Answer) Ack {
	switch a {
	case AnswerAccept:
		return cloudPaymentsCode(0)
	case AnswerUnknown:
		return cloudPaymentsCode(10)
	case AnswerAmount:
		return cloudPaymentsCode(12)
	case AnswerExpired:
		return cloudPaymentsCode(20)
	case AnswerRefuse:
	}
	return cloudPaymentsCode(cloudPaymentsRefuse)
}

func cloudPaymentsCode(code int) Ack {
	return Ack{Status: http.StatusOK, ContentType: "application/json", Body: fmt.Appendf(nil, `{"code":%d}`, code)}
}

// About implements [Describer].
func (*CloudPayments) About() About {
	return About{
		Name:         "CloudPayments",
		Header:       "Content-HMAC and X-Content-HMAC (base64 HMAC-SHA256 over the body or query string, raw or decoded)",
		EventID:      "derived: topic and TransactionId",
		Ack:          `200 {"code":0}; to check also 10 unknown, 12 amount, 13 refused, 20 expired; redirects are not followed`,
		RetryHorizon: "up to 100 times (from memory)",
		Quirks: []string{
			"The type is only in the address: every notification needs an address that ends in its topic.",
			"check asks before the payment is taken; what nobody answers is refused.",
			"Payouts and refunds use check, pay and fail, too, told by OperationType: they are ignored, and a check of one is answered yes.",
			"fail is not final: the payer may try again under the same InvoiceId.",
			"Of a refund, TransactionId is the refund and PaymentTransactionId the payment; the currency is missing: the payment's is meant.",
			"Bodies are forms, JSON or, by GET, a query string, as the cabinet is set.",
		},
		Setup: [5]string{
			"Cabinet, the site's settings, Notifications: switch on pay, fail, confirm, refund, cancel and, if wanted, check.",
			"Give each the address of the account's endpoint with its topic at the end: …/pay, …/fail, …",
			"Leave the method POST and the encoding UTF-8.",
			"Put the API secret (password for API) into webhook_secrets.",
			"Send the payment attempt's id as InvoiceId.",
		},
	}
}
