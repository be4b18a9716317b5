package webhooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
)

// Adyen verifies and makes deliveries of Adyen
// (https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures):
// standard webhooks, where each item of the body carries its own signature in
// additionalData.hmacSignature, and newer ones (tokens, platforms), where the
// header hmacSignature signs the whole body.
//
// A signature of an item covers eight fields: pspReference, originalReference,
// merchantAccountCode, merchantReference, the amount's value and currency,
// eventCode and success. Nothing else may decide what happens to money; the time,
// the reason and whether it is a test are read all the same, since they don't.
//
// It is safe for concurrent use.
type Adyen struct {
	keys [][]byte
	// login is what the header Authorization must say, empty if anything will do.
	login string
	// captures says that an authorisation takes the money.
	captures bool
}

var errNotHex = errors.New("not hexadecimal")

// NewAdyen returns a verifier by [Config.Secrets], the endpoint's HMAC keys in
// hexadecimal as the Customer Area shows them. A new key takes a while to spread,
// and a delivery that is repeated may still be signed by the old one: keep both.
// None, or one of another form, wraps ErrConfig.
//
// [Config.Params]: "basic_auth.user" and "basic_auth.password", when set, are
// required of every delivery besides. "capture" is "manual" (the default) or
// "automatic": with the latter a successful AUTHORISATION means that the money is
// taken, because an account that captures at once sends no CAPTURE for it.
func NewAdyen(c Config) (*Adyen, error) {
	keys, err := decodedKeys(c, func(secret string) ([]byte, error) {
		key, err := hex.DecodeString(secret)
		if err != nil {
			return nil, errNotHex
		}
		return key, nil
	})
	if err != nil {
		return nil, err
	}
	a := &Adyen{keys: keys, captures: c.Params["capture"] == "automatic"}
	user, password := c.Params["basic_auth.user"], c.Params["basic_auth.password"]
	if user != "" || password != "" {
		a.login = "Basic " + base64Strict.EncodeToString([]byte(user+":"+password))
	}
	return a, nil
}

// Verify implements [Verifier]. Every item must be signed by one of the keys;
// with a single one that is not, nothing of the body counts. Fields are signed as
// they are, without escapes: that ":" and "\" had to be escaped was a rule of the
// old hosted pages. So that what was signed can be split in one way only, a ":"
// is refused everywhere but in merchantReference.
//
// No signature, or no item, is ErrSignatureMissing, as is a missing password; a
// body that is not JSON in UTF-8, or an item of another form,
// ErrSignatureMalformed.
func (a *Adyen) Verify(_ context.Context, d Delivery) ([]Event, error) {
	if err := checkAuthorization(d.Header, a.login); err != nil {
		return nil, err
	}
	items, standard, err := readAdyenItems(d.Body)
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
	events := make([]Event, len(items))
	for i, item := range items {
		if events[i], err = item.event(a.captures); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		events[i].SecretIndex = indexes[i]
	}
	return events, nil
}

// verifyNotice checks a newer webhook, which is signed as a whole.
func (a *Adyen) verifyNotice(d Delivery) ([]Event, error) {
	values := headerValues(d.Header, "hmacSignature")
	if len(values) == 0 {
		return nil, fmt.Errorf("%w: neither items nor a header hmacSignature", ErrSignatureMissing)
	}
	index := matchMAC(sha256.New, a.keys, decodeAll(values, base64Strict.DecodeString), d.Body)
	if index < 0 {
		return nil, fmt.Errorf("%w: none of %d keys matches", ErrSignatureInvalid, len(a.keys))
	}
	event, err := parseAdyenNotice(d.Body)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = index
	return []Event{event}, nil
}

// Sign implements [Signer]. A body of items gets a signature in each of them, and
// is written anew; any other gets the header hmacSignature. The configured login
// is added.
func (a *Adyen) Sign(d *Delivery) error {
	_, standard, err := readAdyenItems(d.Body)
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
		setHeader(d, "hmacSignature", base64Strict.EncodeToString(mac(sha256.New, a.keys[0], d.Body)))
	}
	if a.login != "" {
		setHeader(d, "Authorization", a.login)
	}
	return nil
}

// Ack implements [Verifier]: any 2xx within 10 seconds; "[accepted]" is what older
// integrations had to answer, and still may.
func (a *Adyen) Ack(Delivery, []Event) Ack {
	return Ack{Status: http.StatusOK, ContentType: "text/plain", Body: []byte("[accepted]")}
}

// About implements [Describer].
func (*Adyen) About() About {
	return About{
		Name:         "Adyen",
		Header:       "additionalData.hmacSignature of each item (base64 HMAC-SHA256 over eight fields); newer webhooks: hmacSignature (base64 HMAC-SHA256 over the body); basic authentication besides, if configured",
		EventID:      "derived: pspReference, eventCode, success; newer webhooks: native: eventId",
		Ack:          "any 2xx within 10 s; sent: 200 [accepted]",
		RetryHorizon: "3 times at once, then after 2, 5, 10, 15, 30 min, 1, 2, 4, 8 h …, up to 30 days; a failing endpoint holds up all that follows",
		Quirks: []string{
			"One body may carry several items; if one is forged, none is taken.",
			"The time, the reason, the metadata and whether it is live are not signed: they never decide.",
			"Amounts of CLP and ISK come with two digits, those of CVE and IDR with none.",
			"CAPTURE with success means that the request was accepted; CAPTURE_FAILED may follow, and is money taken back.",
			"CAPTURE without success leaves the money held: it is no failure of the payment.",
			"CANCEL_OR_REFUND does not say under its signature which of the two it was: a person must look.",
			"CANCELLATION without success follows a cancellation that was received: it says nothing of the payment.",
			"A capture that failed is often made again by Adyen itself: CAPTURE (Transaction Recaptured) changes no amount here.",
			"CHARGEBACK and SECOND_CHARGEBACK take the money, CHARGEBACK_REVERSED and PREARBITRATION_WON return it; DISPUTE_DEFENSE_PERIOD_ENDED does not say of what it was.",
			"Events that follow a CHARGEBACK name their payment by originalReference only if that is switched on (webhook, Risk); else by the dispute, whose CHARGEBACK must have come.",
			"An account that captures at once sends no CAPTURE: set capture to automatic, or ask for manual capture.",
			"There is no call that reads a payment: the webhook is the only source.",
		},
		Setup: [5]string{
			"Customer Area, Developers, Webhooks: create a standard webhook with the address of the account's endpoint; switch on OFFER_CLOSED and EXPIRE, which may be off.",
			"Generate its HMAC key (hexadecimal) and put it into webhook_secrets; keep the old key beside a new one.",
			"Optionally set a user name and password there, and the same as basic_auth of the account.",
			"Send the payment attempt's id as the payment's reference.",
			"Send a test of AUTHORISATION from the same page: it must be shown as accepted.",
		},
	}
}
