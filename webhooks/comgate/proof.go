package comgate

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// Verifier is safe for concurrent use.
type Verifier struct{ secrets []string }

// New returns a verifier by [webhooks.Config.Secrets], the shop's secrets. None, or an empty one, wraps ErrConfig.
func New(c webhooks.Config) (*Verifier, error) {
	if _, err := read.Keys(c); err != nil {
		return nil, err
	}
	return &Verifier{secrets: c.Secrets}, nil
}

// Verify implements [webhooks.Verifier]. A form without secret is ErrSignatureMissing. A body that is not a form, or that
// has two secrets, is ErrSignatureMalformed.
//
// The secret proves that the sender has it, not that the other fields are as Comgate sent them, and Comgate recommends
// to look the status up in any case. So events have the form's fields and need a fetch. The id is derived from transId
// and status.
func (c *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	form, err := read.Form(string(d.Body), read.Only("secret"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", webhooks.ErrSignatureMalformed, err)
	}
	if form["secret"] == "" {
		return nil, fmt.Errorf("%w: field secret", webhooks.ErrSignatureMissing)
	}
	index := -1
	for i, secret := range c.secrets {
		if read.SameText(form["secret"], secret) && index < 0 {
			index = i
		}
	}
	if index < 0 {
		return nil, fmt.Errorf("%w: none of %d secrets is in the form", webhooks.ErrSignatureInvalid, len(c.secrets))
	}
	return read.By(index, c.Read(d)), nil
}

// Read implements [webhooks.Reader].
func (c *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	var event webhooks.Event
	form, err := read.Form(string(d.Body), read.Only("transId", "status", "refId", "price", "curr", "test", "merchant"))
	if err == nil {
		event, err = parse(form)
	}
	return read.One(c.Redacted(d), event, err)
}

// Redacted implements [webhooks.Redactor]: the form's field secret is left without a value.
func (*Verifier) Redacted(d webhooks.Delivery) []byte {
	fields := strings.Split(string(d.Body), "&")
	for i, field := range fields {
		name, _, _ := strings.Cut(field, "=")
		if decoded, err := url.QueryUnescape(name); err == nil && decoded == "secret" {
			fields[i] = name + "="
		}
	}
	return []byte(strings.Join(fields, "&"))
}

// Sign implements [webhooks.Signer]: it sets the field secret of the form in the body. It returns ErrPayload if the body is
// not a form.
func (c *Verifier) Sign(d *webhooks.Delivery) error {
	form, err := url.ParseQuery(string(d.Body))
	if err != nil {
		return fmt.Errorf("%w: not a form: %w", webhooks.ErrPayload, err)
	}
	form.Set("secret", c.secrets[0])
	d.Body = []byte(form.Encode())
	read.SetHeader(d, "Content-Type", "application/x-www-form-urlencoded")
	return nil
}

// Ack implements [webhooks.Verifier]. The body "code=0&message=OK" is the form of Comgate's own API responses; that Comgate
// accepts it here is from memory. Comgate's page on notifications does not define the response. The status is 200 anyway.
func (c *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack {
	return webhooks.Ack{
		Status: http.StatusOK, ContentType: "application/x-www-form-urlencoded; charset=utf-8",
		Body: []byte("code=0&message=OK"),
	}
}
