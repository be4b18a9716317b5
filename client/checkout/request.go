package checkout

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// setByPages lists the members of a pay request that a page may set, by their paths: those that a customer's own token could set. It leaves
// out three of them: a customer may only name an account that is offered, no other reference than the user's id, and no lines in
// place of the order's receipts. The shop's backend sends the request, and a service may do all of that.
func setByPages() []string {
	return []string{
		"payment_method.token", "payment_method.type", "save_payment_method",
		"customer.email", "customer.name", "customer.phone", "customer.ip", "customer.locale",
		"customer.billing_address.line1", "customer.billing_address.line2", "customer.billing_address.city", "customer.billing_address.postal_code",
		"customer.billing_address.state", "customer.billing_address.country",
		"customer.shipping_address.line1", "customer.shipping_address.line2", "customer.shipping_address.city", "customer.shipping_address.postal_code",
		"customer.shipping_address.state", "customer.shipping_address.country",
		"browser.user_agent", "browser.accept_header", "browser.language", "browser.color_depth", "browser.screen_height", "browser.screen_width",
		"browser.time_zone_offset", "browser.java_enabled",
		"return_url", "amount", "currency",
	}
}

// others lists the members that a page may not set.
func others(body map[string]any, prefix string) (paths []string) {
	known := setByPages()
	for _, name := range names(body) {
		path := prefix + name
		if slices.Contains(known, path) {
			continue
		}
		nested, ok := body[name].(map[string]any)
		if ok && slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, path+".") }) {
			paths = append(paths, others(nested, path+".")...)
		} else {
			paths = append(paths, path)
		}
	}
	return paths
}

func names(body map[string]any) []string { return slices.Sorted(maps.Keys(body)) }

// keyOf is the page's key: one made here would be another for each copy.
func keyOf(r *http.Request) (string, error) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" {
		return "", refused(http.StatusBadRequest, "idempotency-key-missing", "Send the header Idempotency-Key: one key for each intention of the customer.")
	}
	return key, nil
}

func attemptOf(r *http.Request) (string, error) {
	id := r.URL.Query().Get("payment_attempt_id")
	if id == "" {
		return "", refused(http.StatusUnprocessableEntity, "validation-failed", "Name the payment_attempt_id in the query.", "payment_attempt_id")
	}
	return id, nil
}

func header(r *http.Request, name string) *string {
	if v := r.Header.Get(name); v != "" {
		return &v
	}
	return nil
}

// bytesOf reads a body that is bounded by http.MaxBytesReader.
func bytesOf(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, refused(http.StatusRequestEntityTooLarge, "body-too-large", "The body is too large.")
	}
	if err != nil {
		return nil, refused(http.StatusBadRequest, "malformed-request", "The body can't be read.")
	}
	return body, nil
}

// objectOf reads a JSON object, its numbers as they are written.
func objectOf(r *http.Request) (map[string]any, error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return nil, refused(http.StatusUnsupportedMediaType, "unsupported-media-type", "Send application/json.")
	}
	text, err := bytesOf(r)
	if err != nil {
		return nil, err
	}
	var body map[string]any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&body); err != nil || body == nil || dec.Decode(new(any)) != io.EOF {
		return nil, refused(http.StatusBadRequest, "malformed-request", "Send a JSON object.")
	}
	return body, nil
}

// convert gives a page's object a type of the contract.
func convert(body map[string]any, to any) error {
	text, err := json.Marshal(body)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		return refused(http.StatusUnprocessableEntity, "validation-failed", "A member has a wrong type: "+err.Error())
	}
	return nil
}
