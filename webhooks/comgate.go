package webhooks

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Comgate verifies and makes deliveries of Comgate
// (https://apidoc.comgate.cz/en/push-notifikace): a form whose field secret is the
// shop's secret itself. Nothing is signed.
//
// It is safe for concurrent use.
type Comgate struct{ secrets []string }

// NewComgate returns a verifier by [Config.Secrets], the shop's secrets. None, or
// an empty one, wraps ErrConfig.
func NewComgate(c Config) (*Comgate, error) {
	if _, err := textKeys(c); err != nil {
		return nil, err
	}
	return &Comgate{secrets: c.Secrets}, nil
}

// Verify implements [Verifier]. A form without secret is ErrSignatureMissing, and
// what is not a form ErrSignatureMalformed.
//
// The secret says that the sender knows it, not that the other fields are as
// Comgate sent them, and Comgate recommends to ask for the status in any case:
// events say what the form says and need a fetch. The id is derived from transId
// and status.
func (c *Comgate) Verify(_ context.Context, d Delivery) ([]Event, error) {
	form, err := formFields(string(d.Body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignatureMalformed, err)
	}
	if form["secret"] == "" {
		return nil, fmt.Errorf("%w: field secret", ErrSignatureMissing)
	}
	index := -1
	for i, secret := range c.secrets {
		if sameText(form["secret"], secret) && index < 0 {
			index = i
		}
	}
	if index < 0 {
		return nil, fmt.Errorf("%w: none of %d secrets is in the form", ErrSignatureInvalid, len(c.secrets))
	}
	event, err := parseComgate(form)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = index
	return []Event{event}, nil
}

// Redacted implements [Redactor]: the form's field secret is left without a value.
func (*Comgate) Redacted(d Delivery) []byte {
	fields := strings.Split(string(d.Body), "&")
	for i, field := range fields {
		name, _, _ := strings.Cut(field, "=")
		if decoded, err := url.QueryUnescape(name); err == nil && decoded == "secret" {
			fields[i] = name + "="
		}
	}
	return []byte(strings.Join(fields, "&"))
}

// Sign implements [Signer]: it sets the field secret of the form in the body. What is
// not a form is ErrPayload.
func (c *Comgate) Sign(d *Delivery) error {
	form, err := url.ParseQuery(string(d.Body))
	if err != nil {
		return fmt.Errorf("%w: not a form: %w", ErrPayload, err)
	}
	form.Set("secret", c.secrets[0])
	d.Body = []byte(form.Encode())
	setHeader(d, "Content-Type", "application/x-www-form-urlencoded")
	return nil
}

// Ack implements [Verifier]. That Comgate reads "code=0&message=OK", which is how
// its API answers, is from memory; its page on notifications does not say what it
// expects, and the status 200 is there in any case.
func (c *Comgate) Ack(Delivery, []Event) Ack {
	return Ack{
		Status: http.StatusOK, ContentType: "application/x-www-form-urlencoded; charset=utf-8",
		Body: []byte("code=0&message=OK"),
	}
}

// About implements [Describer].
func (*Comgate) About() About {
	return About{
		Name:         "Comgate",
		Header:       "the form's secret, which is the shop's secret itself: nothing is signed",
		EventID:      "derived: transId and status",
		Ack:          "200 and code=0&message=OK (from memory)",
		RetryHorizon: "not documented",
		Quirks: []string{
			"Nothing is signed: the secret travels in the body, and the status is asked for before it counts.",
			"Refunds are not notified.",
			"Keep the bodies of this endpoint out of every log: they hold the secret.",
		},
		Setup: [5]string{
			"Client portal, the shop's connection: set the address of the account's endpoint for background results.",
			"Use an https address: the secret travels in the body.",
			"Put the shop's secret into webhook_secrets and its number into merchant.",
			"Allow the service's address to call Comgate's API there.",
			"Send the payment attempt's id as refId of the payment.",
		},
	}
}

// parseComgate reads a form. price is in hundredths of the currency, as ISO 4217
// has it for all that Comgate takes.
func parseComgate(form map[string]string) (Event, error) {
	id, status := form["transId"], form["status"]
	if id == "" || status == "" {
		return Event{}, fmt.Errorf("%w: form without transId or status", ErrPayload)
	}
	e := Event{
		ID: derivedID(id, status), IDSource: Derived, Type: status, Kind: KindIgnored,
		References: references(form["refId"], id), ProviderPaymentID: id,
		Test: form["test"] == "true", TestKnown: form["test"] == "true" || form["test"] == "false",
	}
	switch status {
	case "PENDING":
		e.Kind = KindProcessing
	case "AUTHORIZED":
		e.Kind = KindAuthorized
	case "PAID":
		e.Kind = KindSucceeded
	case "CANCELLED":
		e.Kind, e.FailureCode = KindFailed, codeCanceled
	default:
		return e, nil
	}
	e.NeedsFetch = true
	return e.withMoney(minorMoneyIn(form["price"], form["curr"], nil))
}
