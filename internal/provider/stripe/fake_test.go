package stripe_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// fake implements the documented parts of Stripe that a payment needs. It keeps payment intents, refunds and idempotency
// keys.
type fake struct {
	*http.ServeMux

	mu      sync.Mutex
	intents map[string]*intent
	// sessions are pages by id.
	sessions map[string]*session
	refunds  []*refund
	keys     map[string]*saved
	serial   int
	// restricted: the key may not read charges. noDisputes: the key may not read disputes.
	restricted, noDisputes bool
	// connected is the account that has the objects; empty for the key's own account.
	connected string
}

type object map[string]any

type intent struct {
	id, status, currency, charge, reason string
	amount, capturable, received         int64
	refunded                             int64
	manual                               bool
	returnURL                            string
	metadata                             map[string]string
	lastError                            object
	action                               object
	customer, method, multicapture       string
	disputes                             []object
	saves, several                       bool
}

type refund struct {
	id, intent, currency, status string
	amount                       int64
	metadata                     map[string]string
}

// saved is the stored answer of a key after the call was executed.
type saved struct {
	request string
	status  int
	body    []byte
}

const secret = "sk_test_51fake"

// pageSize is smaller than the requested page size, so that every list has several pages.
const pageSize = 2

func newFake(*testing.T) http.Handler {
	f := &fake{ServeMux: http.NewServeMux(), intents: map[string]*intent{}, sessions: map[string]*session{}, keys: map[string]*saved{}}
	f.HandleFunc("POST /v1/payment_intents", f.command(f.create))
	f.HandleFunc("POST /v1/payment_intents/{id}/capture", f.command(f.capture))
	f.HandleFunc("POST /v1/payment_intents/{id}/cancel", f.command(f.cancel))
	f.HandleFunc("POST /v1/payment_intents/{id}/confirm", f.command(f.confirm))
	f.HandleFunc("POST /v1/refunds", f.command(f.refund))
	f.HandleFunc("GET /v1/payment_intents/search", f.question(f.search))
	f.HandleFunc("GET /v1/payment_intents/{id}", f.question(f.show))
	f.HandleFunc("GET /v1/payment_methods/{id}", f.question(func(id string, _ url.Values) (int, object) {
		if id != storedCard && id != "pm_card_visa" {
			return missing()
		}
		card := object{"brand": "visa", "last4": "4242", "exp_month": 8, "exp_year": 2030}
		return http.StatusOK, object{"id": id, "object": "payment_method", "type": "card", "customer": storedFor, "card": card}
	}))
	f.HandleFunc("GET /v1/refunds", f.question(f.listRefunds))
	f.HandleFunc("GET /v1/refunds/{id}", f.question(f.showRefund))
	f.HandleFunc("GET /v1/checkout/sessions/{id}", f.question(f.showSession))
	f.HandleFunc("POST /v1/checkout/sessions/{id}/expire", f.command(f.expire))
	f.HandleFunc("GET /v1/disputes", f.question(f.listDisputes))
	return f
}

type operation func(id string, in url.Values) (int, object)

// command runs an operation once for each key. Authentication and validation come first, and their failures are not
// stored.
func (f *fake) command(run operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !f.authentic(w, r) {
			return
		}
		raw, _ := io.ReadAll(r.Body)
		in, err := url.ParseQuery(string(raw))
		if err != nil || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
			write(w, http.StatusBadRequest, stripeError("invalid_request_error", "parameter_unknown", ""))
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		key, request := r.Header.Get("Idempotency-Key"), r.URL.Path+"?"+string(raw)
		known := f.keys[key]
		if known != nil && known.request != request {
			write(w, http.StatusBadRequest, stripeError("idempotency_error", "", ""))
			return
		}
		if known == nil {
			heard := httptest.NewRecorder()
			status, said := run(r.PathValue("id"), in)
			write(heard, status, said)
			known = &saved{request, status, heard.Body.Bytes()}
			if status != http.StatusNotFound && status != http.StatusBadRequest {
				f.keys[key] = known
			}
		} else {
			w.Header().Set("Idempotent-Replayed", "true")
		}
		w.WriteHeader(known.status)
		_, _ = w.Write(known.body)
	}
}

func (f *fake) question(run operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !f.authentic(w, r) {
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		status, said := run(r.PathValue("id"), r.URL.Query())
		write(w, status, said)
	}
}

// authentic checks the key and the account. An account has no object of another account, and a platform has no access to an account that
// is not connected to it (https://docs.stripe.com/error-codes#account-invalid).
func (f *fake) authentic(w http.ResponseWriter, r *http.Request) bool {
	of := r.Header.Get("Stripe-Account")
	switch {
	case r.Header.Get("Authorization") != "Bearer "+secret:
		write(w, http.StatusUnauthorized, stripeError("invalid_request_error", "", ""))
	case of == "" && f.connected != "":
		status, said := missing()
		write(w, status, said)
	case of != f.connected:
		write(w, http.StatusForbidden, stripeError("invalid_request_error", "account_invalid", ""))
	default:
		return true
	}
	return false
}

func write(w http.ResponseWriter, status int, said object) {
	raw, err := json.Marshal(said)
	if err != nil {
		status = http.StatusInternalServerError
	}
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

func stripeError(kind, code, decline string) object {
	e := object{"type": kind, "message": "Not for the customer."}
	if code != "" {
		e["code"] = code
	}
	if decline != "" {
		e["decline_code"] = decline
	}
	return object{"error": e}
}

func missing() (int, object) {
	return http.StatusNotFound, stripeError("invalid_request_error", "resource_missing", "")
}

func (f *fake) id(prefix string) string {
	f.serial++
	return prefix + "_3fake" + strconv.Itoa(f.serial)
}

// create knows Stripe's own test tokens, pm_card_… of https://docs.stripe.com/testing.
func (f *fake) create(_ string, in url.Values) (int, object) {
	amount, err := strconv.ParseInt(in.Get("amount"), 10, 64)
	method := in.Get("payment_method") + in.Get("payment_method_data[card][token]") + in.Get("confirmation_token")
	if kind := in.Get("payment_method_data[type]"); kind != "" && kind != "card" {
		method = kind
	}
	pi := &intent{
		id: f.id("pi"), amount: amount, currency: in.Get("currency"), manual: in.Get("capture_method") == "manual",
		returnURL: in.Get("return_url"), metadata: metadata(in), charge: f.id("ch"),
	}
	pi.multicapture = in.Get("payment_method_options[card][request_multicapture]")
	pi.several = pi.multicapture == "if_available"
	pi.customer, pi.method, pi.saves = in.Get("customer"), method, in.Get("setup_future_usage") != ""
	redirects := in.Get("automatic_payment_methods[allow_redirects]") == "always" || in.Has("payment_method_types[0]")
	switch {
	case err != nil, pi.currency != strings.ToLower(pi.currency), in.Get("confirm") != "true", redirects != (pi.returnURL != ""):
		return http.StatusBadRequest, stripeError("invalid_request_error", "parameter_invalid", "")
	case method == "pm_nobody":
		return missing()
	case pi.saves && pi.customer != storedFor, in.Get("off_session") == "true" && pi.customer == "":
		return http.StatusBadRequest, stripeError("invalid_request_error", "parameter_missing", "")
	case method == storedCard && in.Get("customer") != storedFor:
		return http.StatusBadRequest, stripeError("invalid_request_error", "resource_missing", "")
	}
	f.intents[pi.id] = pi
	switch method {
	case "pm_card_visa_chargeDeclined", "tok_chargeDeclined":
		return f.decline(pi, "card_declined", "generic_decline")
	case "pm_card_visa_chargeDeclinedInsufficientFunds":
		return f.decline(pi, "card_declined", "insufficient_funds")
	case "pm_card_authenticationRequired", "klarna":
		pi.status = "requires_action"
	case "pm_card_challenge": // Stripe.js shows this challenge
		pi.status, pi.action = "requires_action", object{"type": "use_stripe_sdk", "use_stripe_sdk": object{"type": "stripe_3ds2_fingerprint"}}
	case "pm_card_manual":
		pi.status, pi.action = "requires_action", object{"type": "use_stripe_sdk", "use_stripe_sdk": object{}}
	case "pm_oxxo":
		pi.status = "requires_action"
		pi.action = object{"type": "oxxo_display_details", "oxxo_display_details": object{
			"expires_after": 1801000000, "hosted_voucher_url": "https://payments.stripe.com/oxxo/voucher/x", "number": "12345678901234657890123456789012",
		}}
	case "pm_usBankAccount":
		pi.status = "processing"
	default:
		pi.pay()
	}
	return http.StatusOK, pi.render()
}

func (f *fake) decline(pi *intent, code, decline string) (int, object) {
	pi.status = "requires_payment_method"
	said := stripeError("card_error", code, decline)
	e, _ := said["error"].(object)
	pi.lastError = object{"type": e["type"], "code": e["code"], "decline_code": e["decline_code"]}
	e["payment_intent"] = pi.render()
	return http.StatusPaymentRequired, said
}

func (pi *intent) pay() {
	if pi.manual {
		pi.status, pi.capturable = "requires_capture", pi.amount
		return
	}
	pi.status, pi.received = "succeeded", pi.amount
}

func (pi *intent) render() object {
	o := object{
		"object": "payment_intent", "id": pi.id, "status": pi.status, "amount": pi.amount, "currency": pi.currency,
		"amount_capturable": pi.capturable, "amount_received": pi.received, "metadata": pi.metadata, "latest_charge": pi.charge,
		"client_secret": pi.id + "_secret_x", "last_payment_error": pi.lastError, "next_action": nil, "cancellation_reason": nil,
	}
	if pi.reason != "" {
		o["cancellation_reason"] = pi.reason
	}
	if pi.multicapture != "" {
		o["payment_method_options"] = object{"card": object{"request_multicapture": pi.multicapture}}
	}
	if pi.customer != "" {
		o["customer"], o["payment_method"] = pi.customer, pi.method
	}
	if pi.saves {
		o["setup_future_usage"] = "off_session"
	}
	switch {
	case pi.status == "requires_action" && pi.action != nil:
		o["next_action"] = pi.action
	case pi.status == "requires_action" && pi.returnURL == "":
		o["next_action"] = object{"type": "use_stripe_sdk", "use_stripe_sdk": object{}}
	case pi.status == "requires_action":
		to := object{"url": "https://hooks.stripe.com/3d_secure/" + pi.id, "return_url": pi.returnURL}
		o["next_action"] = object{"type": "redirect_to_url", "redirect_to_url": to}
	}
	return o
}

// search searches by one clause of metadata, and returns an old state.
func (f *fake) search(_ string, in url.Values) (int, object) {
	clause := strings.TrimSuffix(strings.TrimPrefix(in.Get("query"), "metadata['"), "'")
	name, value, ok := strings.Cut(clause, "']:'")
	if !ok {
		return http.StatusBadRequest, stripeError("invalid_request_error", "", "")
	}
	hits := []object{}
	for _, pi := range f.intents {
		if pi.metadata[name] == value {
			hit := pi.render()
			hit["status"] = "requires_confirmation"
			hits = append(hits, hit)
		}
	}
	return http.StatusOK, object{"object": "search_result", "data": hits, "has_more": false}
}

func unexpected(pi *intent) (int, object) {
	said := stripeError("invalid_request_error", "payment_intent_unexpected_state", "")
	said["error"].(object)["payment_intent"] = pi.render()
	return http.StatusBadRequest, said
}

func (f *fake) capture(id string, in url.Values) (int, object) {
	pi := f.intents[id]
	amount, err := strconv.ParseInt(in.Get("amount_to_capture"), 10, 64)
	switch {
	case pi == nil:
		return missing()
	case err != nil, pi.status == "requires_capture" && amount > pi.capturable:
		return http.StatusBadRequest, stripeError("invalid_request_error", "amount_too_large", "")
	case pi.status != "requires_capture":
		return unexpected(pi)
	}
	pi.received += amount
	if pi.capturable -= amount; in.Get("final_capture") != "false" {
		pi.capturable = 0
	}
	if pi.several = pi.several && pi.capturable > 0; !pi.several {
		pi.status, pi.capturable = "succeeded", 0
	}
	return http.StatusOK, pi.render()
}

// acted acts as Stripe.js after the customer has agreed.
func (f *fake) acted(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pi := f.intents[id]
	if pi.status = "requires_confirmation"; pi.method != "pm_card_manual" {
		pi.pay()
	}
}

func (f *fake) confirm(id string, _ url.Values) (int, object) {
	pi := f.intents[id]
	switch {
	case pi == nil:
		return missing()
	case pi.status != "requires_confirmation":
		return unexpected(pi)
	}
	pi.pay()
	return http.StatusOK, pi.render()
}

func (f *fake) cancel(id string, _ url.Values) (int, object) {
	pi := f.intents[id]
	switch {
	case pi == nil:
		return missing()
	case pi.status == "succeeded", pi.status == "canceled", pi.status == "processing", f.onPage(pi):
		return unexpected(pi)
	}
	pi.status, pi.capturable = "canceled", 0
	return http.StatusOK, pi.render()
}

func (f *fake) refund(_ string, in url.Values) (int, object) {
	pi := f.intents[in.Get("payment_intent")]
	amount, err := strconv.ParseInt(in.Get("amount"), 10, 64)
	switch {
	case pi == nil:
		return missing()
	case err != nil, amount > pi.received-pi.refunded:
		return http.StatusBadRequest, stripeError("invalid_request_error", "charge_already_refunded", "")
	}
	pi.refunded += amount
	re := &refund{id: f.id("re"), intent: pi.id, currency: pi.currency, status: "succeeded", amount: amount, metadata: metadata(in)}
	f.refunds = append([]*refund{re}, f.refunds...)
	return http.StatusOK, re.render()
}

func (re *refund) render() object {
	return object{
		"object": "refund", "id": re.id, "payment_intent": re.intent, "amount": re.amount, "currency": re.currency,
		"status": re.status, "metadata": re.metadata,
	}
}

func (f *fake) showRefund(id string, _ url.Values) (int, object) {
	for _, re := range f.refunds {
		if re.id == id {
			return http.StatusOK, re.render()
		}
	}
	return missing()
}

func (f *fake) listRefunds(_ string, in url.Values) (int, object) {
	if limit, err := strconv.Atoi(in.Get("limit")); err != nil || limit < 1 || limit > 100 {
		return http.StatusBadRequest, stripeError("invalid_request_error", "parameter_invalid_integer", "")
	}
	found := []object{}
	after := in.Get("starting_after")
	for _, re := range f.refunds {
		switch {
		case re.intent != in.Get("payment_intent"):
		case after != "":
			if re.id == after {
				after = ""
			}
		default:
			found = append(found, re.render())
		}
	}
	more := len(found) > pageSize
	if more {
		found = found[:pageSize]
	}
	return http.StatusOK, object{"object": "list", "data": found, "has_more": more}
}

func metadata(in url.Values) map[string]string {
	all := map[string]string{}
	for name, values := range in {
		if key, ok := strings.CutPrefix(name, "metadata["); ok {
			all[strings.TrimSuffix(key, "]")] = values[0]
		}
	}
	return all
}
