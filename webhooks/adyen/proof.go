package adyen

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// Verifier is safe for concurrent use.
type Verifier struct {
	keys [][]byte
	// login is required of the header Authorization, empty if anything will do.
	login string
	// captures is set where an authorisation takes the money.
	captures bool
}

var errNotHex = errors.New("not hexadecimal")

// New returns a verifier by [webhooks.Config.Secrets], the endpoint's HMAC keys in hexadecimal as the Customer Area
// shows them. A new key takes a while to spread, and a delivery that is repeated may still be signed by the old one:
// keep both. None, or one of another form, wraps ErrConfig.
//
// [webhooks.Config.Params]: "basic_auth.user" and "basic_auth.password", when set, are required of every delivery
// besides. "capture" is "manual" (the default) or "automatic": with the latter a successful AUTHORISATION means that
// the money is taken, because an account that captures at once sends no CAPTURE for it.
func New(c webhooks.Config) (*Verifier, error) {
	keys, err := read.DecodedKeys(c, func(secret string) ([]byte, error) {
		key, err := hex.DecodeString(secret)
		if err != nil {
			return nil, errNotHex
		}
		return key, nil
	})
	if err != nil {
		return nil, err
	}
	a := &Verifier{keys: keys, captures: c.Params["capture"] == "automatic"}
	user, password := c.Params["basic_auth.user"], c.Params["basic_auth.password"]
	if user != "" || password != "" {
		a.login = "Basic " + read.Base64.EncodeToString([]byte(user+":"+password))
	}
	return a, nil
}

// Verify implements [webhooks.Verifier]. Every item must be signed by one of the keys; if a single item is not,
// nothing of the body counts. Fields are signed as they are, without escapes: the rule to escape ":" and "\" belonged to
// the old hosted pages. A ":" is refused everywhere but in merchantReference, so that the signed text can be split in one
// way only.
//
// No signature, or no item, is ErrSignatureMissing, as is a missing password; a body that is not JSON in UTF-8, or an
// item of another form, ErrSignatureMalformed.
func (a *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	if err := read.CheckAuthorization(d.Header, a.login); err != nil {
		return nil, err
	}
	items, standard, err := readItems(d.Body)
	if err != nil {
		return nil, err
	}
	if !standard {
		return a.verifyNotice(d)
	}
	indexes := make([]int, len(items))
	for i, item := range items {
		if indexes[i], err = item.signedBy(a.keys); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
	}
	events := a.readAll(items)
	for i := range events {
		events[i].SecretIndex = indexes[i]
	}
	return events, nil
}

// Read implements [webhooks.Reader].
func (a *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	items, standard, err := readItems(d.Body)
	switch {
	case err != nil:
		return read.One(d.Body, webhooks.Event{}, err)
	case standard:
		return a.readAll(items)
	}
	event, err := parseNotice(d.Body)
	return read.One(d.Body, event, err)
}

func (a *Verifier) readAll(items []item) []webhooks.Event {
	events := make([]webhooks.Event, len(items))
	for i, item := range items {
		event, err := item.event(a.captures)
		events[i] = read.Event(item.signed(), event, err)
	}
	return read.By(0, events)
}

// verifyNotice checks a newer webhook, which is signed as a whole.
func (a *Verifier) verifyNotice(d webhooks.Delivery) ([]webhooks.Event, error) {
	values := read.HeaderValues(d.Header, "hmacSignature")
	if len(values) == 0 {
		return nil, fmt.Errorf("%w: neither items nor a header hmacSignature", webhooks.ErrSignatureMissing)
	}
	index := read.Match(sha256.New, a.keys, read.DecodeAll(values, read.Base64.DecodeString), d.Body)
	if index < 0 {
		return nil, fmt.Errorf("%w: none of %d keys matches", webhooks.ErrSignatureInvalid, len(a.keys))
	}
	return read.By(index, a.Read(d)), nil
}

// Sign implements [webhooks.Signer]. A body of items gets a signature in each of them, and is written anew; any other
// gets the header hmacSignature. The configured login is added.
func (a *Verifier) Sign(d *webhooks.Delivery) error {
	_, standard, err := readItems(d.Body)
	if err != nil {
		return err
	}
	if standard {
		body, err := a.signItems(d.Body)
		if err != nil {
			return err
		}
		d.Body = body
	} else {
		read.SetHeader(d, "hmacSignature", read.Base64.EncodeToString(read.MAC(sha256.New, a.keys[0], d.Body)))
	}
	if a.login != "" {
		read.SetHeader(d, "Authorization", a.login)
	}
	return nil
}

// Ack implements [webhooks.Verifier]: any 2xx within 10 seconds. Older integrations had to answer "[accepted]", which is
// still allowed.
func (a *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack {
	return webhooks.Ack{Status: http.StatusOK, ContentType: "text/plain", Body: []byte("[accepted]")}
}
