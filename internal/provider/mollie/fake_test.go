package mollie_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// fake implements the documented parts of Mollie that a payment needs. It keeps payments, captures, refunds and
// idempotency keys.
type fake struct {
	*http.ServeMux

	mu       sync.Mutex
	payments map[string]*paid
	keys     map[string]*saved
	serial   int
	// slow: captures and releases are pending until settle.
	slow bool
}

type object = map[string]any

type money struct {
	Currency string `json:"currency"`
	Value    string `json:"value"`
}

// cents parses amounts with two decimals, which is sufficient for the tests.
func (m money) cents() int {
	n, err := strconv.Atoi(strings.Replace(m.Value, ".", "", 1))
	if err != nil {
		return -1
	}
	return n
}

func euros(cents int) money {
	return money{"EUR", strconv.Itoa(cents/100) + "." + strconv.Itoa(cents%100 + 100)[1:]}
}

type paid struct {
	id, status, reason, method, sequence, mode string
	amount                                     money
	cancelable, lasting                        bool
	captured, refunded, chargedBack            int
	metadata                                   json.RawMessage
	redirect                                   *string
	customer                                   string
	captures                                   []*capture
	refunds                                    []*refund
}

type capture struct {
	id, status string
	amount     money
}

type refund struct {
	id, payment, status string
	amount              money
	metadata            json.RawMessage
}

// saved is the stored answer of a key.
type saved struct {
	status int
	body   []byte
}

const key = "test_dHar4XY7LxsDOtmnkVtjNVWXLSlXsM"

// pageSize is smaller than the requested page size, so that every list has several pages.
const pageSize = 2

func newFake(*testing.T) *fake {
	f := &fake{ServeMux: http.NewServeMux(), payments: map[string]*paid{}, keys: map[string]*saved{}}
	f.HandleFunc("POST /v2/payments", f.command(f.create))
	f.HandleFunc("DELETE /v2/payments/{id}", f.command(f.cancel))
	f.HandleFunc("POST /v2/payments/{id}/captures", f.command(f.capture))
	f.HandleFunc("POST /v2/payments/{id}/release-authorization", f.command(f.release))
	f.HandleFunc("POST /v2/payments/{id}/refunds", f.command(f.refund))
	f.HandleFunc("GET /v2/customers/{customer}/mandates/{id}", f.question(func(r *http.Request) (int, object) {
		if r.PathValue("customer") != "cst_8wmqcHMN4U" || r.PathValue("id") != "mdt_h3gAaD5zP" {
			return http.StatusNotFound, problem(http.StatusNotFound, "")
		}
		return http.StatusOK, object{"resource": "mandate", "id": r.PathValue("id"), "status": "valid"}
	}))
	f.HandleFunc("GET /v2/payments/{id}", f.question(f.show))
	f.HandleFunc("GET /v2/payments/{id}/refunds", f.question(f.listRefunds))
	f.HandleFunc("GET /v2/payments/{id}/refunds/{refund}", f.question(f.showRefund))
	return f
}

// request is the union of all request bodies.
type request struct {
	Amount       money           `json:"amount"`
	Description  string          `json:"description"`
	RedirectURL  *string         `json:"redirectUrl"`
	CaptureMode  string          `json:"captureMode"`
	Metadata     json.RawMessage `json:"metadata"`
	Method       string          `json:"method"`
	CardToken    string          `json:"cardToken"`
	SequenceType string          `json:"sequenceType"`
	CustomerID   string          `json:"customerId"`
}

// command runs an operation once for each key.
func (f *fake) command(run func(r *http.Request, in request) (int, object)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		raw, _ := io.ReadAll(r.Body)
		var in request
		switch {
		case r.Header.Get("Authorization") != "Bearer "+key:
			write(w, http.StatusUnauthorized, problem(http.StatusUnauthorized, ""))
			return
		case len(raw) > 0 && json.Unmarshal(raw, &in) != nil:
			write(w, http.StatusBadRequest, problem(http.StatusBadRequest, ""))
			return
		}
		kept := f.keys[r.Header.Get("Idempotency-Key")]
		if kept == nil {
			heard := httptest.NewRecorder()
			status, said := run(r, in)
			write(heard, status, said)
			kept = &saved{status, heard.Body.Bytes()}
			f.keys[r.Header.Get("Idempotency-Key")] = kept
		}
		w.Header().Set("Content-Type", "application/hal+json")
		w.WriteHeader(kept.status)
		_, _ = w.Write(kept.body)
	}
}

func (f *fake) question(run func(r *http.Request) (int, object)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+key {
			write(w, http.StatusUnauthorized, problem(http.StatusUnauthorized, ""))
			return
		}
		status, said := run(r)
		write(w, status, said)
	}
}

func write(w http.ResponseWriter, status int, said object) {
	w.Header().Set("Content-Type", "application/hal+json")
	w.WriteHeader(status)
	if said == nil {
		return
	}
	raw, err := json.Marshal(said)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(raw)
}

func problem(status int, field string) object {
	p := object{
		"status": status, "title": http.StatusText(status), "detail": "Not for the customer.",
		"_links": object{"documentation": object{"href": "https://docs.mollie.com/overview/handling-errors", "type": "text/html"}},
	}
	if field != "" {
		p["field"] = field
	}
	return p
}

func refuse(field string) (int, object) {
	return http.StatusUnprocessableEntity, problem(http.StatusUnprocessableEntity, field)
}

func missing() (int, object) {
	return http.StatusNotFound, problem(http.StatusNotFound, "")
}

func (f *fake) id(prefix string) string {
	f.serial++
	return prefix + "_7fake" + strconv.Itoa(f.serial)
}

// create creates a payment. A customer with a mandate is charged at once, and the customer's name selects the result.
func (f *fake) create(_ *http.Request, in request) (int, object) {
	p := &paid{
		id: f.id("tr"), status: "open", method: in.Method, amount: in.Amount, cancelable: in.Method != "bancontact", metadata: in.Metadata,
		redirect: in.RedirectURL, sequence: "oneoff", mode: in.CaptureMode, lasting: in.CustomerID == "cst_klarna",
	}
	if in.CustomerID != "" {
		p.sequence = in.SequenceType
	}
	switch {
	case in.Description == "":
		return refuse("description")
	case in.RedirectURL == nil && in.SequenceType != "recurring":
		return refuse("redirectUrl")
	case in.CustomerID == "cst_nobody":
		return refuse("customerId")
	case in.CardToken == "tkn_challenge":
	case in.CustomerID == "" && in.CardToken == "":
	case in.SequenceType == "first":
		p.customer = in.CustomerID
		p.pay()
	case in.CustomerID == "":
	case in.CustomerID == "cst_debit":
		p.status = "pending"
	case strings.HasPrefix(in.CustomerID, "cst_no"):
		p.status, p.reason = "failed", map[string]string{"cst_nomoney": "insufficient_funds", "cst_nocard": "refused_by_issuer"}[in.CustomerID]
	default:
		p.pay()
	}
	f.payments[p.id] = p
	return http.StatusCreated, p.render(false)
}

func (p *paid) pay() {
	p.status = "paid"
	if p.mode == "manual" {
		p.status = "authorized"
	}
}

func (f *fake) cancel(r *http.Request, _ request) (int, object) {
	p := f.payments[r.PathValue("id")]
	switch {
	case p == nil:
		return missing()
	case p.status != "open" && p.status != "pending", !p.cancelable:
		return refuse("")
	}
	p.status = "canceled"
	return http.StatusOK, p.render(false)
}

func (f *fake) capture(r *http.Request, in request) (int, object) {
	p := f.payments[r.PathValue("id")]
	switch {
	case p == nil:
		return missing()
	case p.status != "authorized", in.Amount.cents() > p.amount.cents()-p.captured:
		return refuse("amount")
	}
	c := &capture{id: f.id("cpt"), status: "pending", amount: in.Amount}
	p.captures = append(p.captures, c)
	if !f.slow {
		p.settle(c)
	}
	return http.StatusCreated, c.render(p.id)
}

// settle ends a capture. A method with a lasting hold continues to hold the rest.
func (p *paid) settle(c *capture) {
	c.status = "succeeded"
	p.captured += c.amount.cents()
	if !p.lasting || p.captured == p.amount.cents() {
		p.status = "paid"
	}
}

func (f *fake) release(r *http.Request, _ request) (int, object) {
	p := f.payments[r.PathValue("id")]
	switch {
	case p == nil:
		return missing()
	case p.status != "authorized":
		return refuse("")
	}
	if !f.slow {
		p.status = map[bool]string{true: "paid", false: "canceled"}[p.captured > 0]
	}
	return http.StatusAccepted, nil
}

func (f *fake) refund(r *http.Request, in request) (int, object) {
	p := f.payments[r.PathValue("id")]
	switch {
	case p == nil:
		return missing()
	case p.status != "paid", in.Amount.cents() > p.amount.cents()-p.refunded:
		return refuse("amount")
	case slices.ContainsFunc(p.refunds, func(made *refund) bool { return made.amount == in.Amount }):
		return http.StatusConflict, problem(http.StatusConflict, "")
	}
	p.refunded += in.Amount.cents()
	made := &refund{id: f.id("re"), payment: p.id, status: "pending", amount: in.Amount, metadata: in.Metadata}
	p.refunds = append([]*refund{made}, p.refunds...)
	return http.StatusCreated, made.render()
}

func (f *fake) show(r *http.Request) (int, object) {
	if p := f.payments[r.PathValue("id")]; p != nil {
		embed := r.URL.Query().Get("embed")
		o := p.render(strings.Contains(embed, "captures"))
		if in, ok := o["_embedded"].(object); ok && strings.Contains(embed, "refunds") {
			refunds := []object{}
			for _, made := range p.refunds {
				refunds = append(refunds, made.render())
			}
			in["refunds"] = refunds
		}
		return http.StatusOK, o
	}
	return missing()
}

func (f *fake) showRefund(r *http.Request) (int, object) {
	if p := f.payments[r.PathValue("id")]; p != nil {
		for _, made := range p.refunds {
			if made.id == r.PathValue("refund") {
				return http.StatusOK, made.render()
			}
		}
	}
	return missing()
}

func (f *fake) listRefunds(r *http.Request) (int, object) {
	p := f.payments[r.PathValue("id")]
	if p == nil {
		return missing()
	}
	from := max(0, slices.IndexFunc(p.refunds, func(r2 *refund) bool { return r2.id == r.URL.Query().Get("from") }))
	to := min(from+pageSize, len(p.refunds))
	shown := []object{}
	for _, made := range p.refunds[from:to] {
		shown = append(shown, made.render())
	}
	links := object{"self": href("https://api.mollie.com"), "documentation": href("https://docs.mollie.com"), "next": nil, "previous": nil}
	if to < len(p.refunds) {
		links["next"] = href("https://api.mollie.com/v2/payments/" + p.id + "/refunds?from=" + p.refunds[to].id + "&limit=2")
	}
	return http.StatusOK, object{"count": len(shown), "_embedded": object{"refunds": shown}, "_links": links}
}

func href(to string) object { return object{"href": to, "type": "application/hal+json"} }

func (p *paid) render(captures bool) object {
	o := object{
		"resource": "payment", "id": p.id, "mode": "test", "status": p.status, "amount": p.amount, "description": "A-1",
		"metadata": p.metadata, "profileId": "pfl_2A1gacu42V", "sequenceType": p.sequence, "redirectUrl": p.redirect,
		"createdAt": "2026-03-14T15:09:26+00:00",
		"_links":    object{"self": href("https://api.mollie.com/v2/payments/" + p.id), "dashboard": href("https://my.mollie.com/" + p.id)},
	}
	if p.status == "open" {
		o["_links"].(object)["checkout"] = object{"href": "https://www.mollie.com/checkout/select-method/" + p.id, "type": "text/html"}
		o["isCancelable"] = p.cancelable
	}
	for name, sum := range map[string]int{"amountCaptured": p.captured, "amountRefunded": p.refunded, "amountChargedBack": p.chargedBack} {
		if sum > 0 {
			o[name] = euros(sum)
		}
	}
	if p.customer != "" {
		o["customerId"], o["mandateId"] = p.customer, "mdt_h3gAaD5zP"
		o["method"], o["details"] = "creditcard", object{"cardLabel": "Visa", "cardNumber": "6787", "cardExpiryDate": "2030-03-31"}
	}
	if p.reason != "" {
		o["details"] = object{"failureReason": p.reason}
	}
	if captures {
		shown := []object{}
		for _, c := range p.captures {
			shown = append(shown, c.render(p.id))
		}
		o["_embedded"] = object{"captures": shown}
	}
	return o
}

func (c *capture) render(of string) object {
	return object{
		"resource": "capture", "id": c.id, "mode": "test", "amount": c.amount, "status": c.status, "paymentId": of,
		"createdAt": "2026-03-14T15:09:26+00:00", "_links": object{"self": href("https://x"), "payment": href("https://x"), "documentation": href("https://x")},
	}
}

func (r *refund) render() object {
	return object{
		"resource": "refund", "id": r.id, "mode": "test", "amount": r.amount, "status": r.status, "paymentId": r.payment,
		"description": "Refund", "metadata": r.metadata, "createdAt": "2026-03-14T15:09:26+00:00",
		"_links": object{"self": href("https://x"), "payment": href("https://x"), "documentation": href("https://x")},
	}
}
