// Package gocardlesstest has a fake GoCardless server, for tests. The conformance suite and tests of the whole program
// use it. It keeps books of collections and refunds, so that tests can compare them with paylatch's books.
package gocardlesstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Fake implements the documented parts of GoCardless that a payment needs. It accepts only documented members, and its
// objects have members of the published samples (TestFakeFitsTheSamples).
type Fake struct {
	*http.ServeMux

	mu      sync.Mutex
	objects map[string]object
	refunds []object
	// keys maps a collection and a key to the id of the created object. Pages is the number of flows.
	keys   map[string]string
	serial int
	Pages  int
	events []object
}

type object = map[string]any

const (
	// Mandate is an active mandate.
	Mandate = "MD0001"
	// Owner is the customer of Mandate.
	Owner = "CU0001"
	// MissingID is the id of a payment that does not exist.
	MissingID = "PM0NONE"
)

// New returns a creditor with two mandates. Only Mandate is active.
func New() *Fake {
	f := &Fake{ServeMux: http.NewServeMux(), keys: map[string]string{}, objects: map[string]object{
		Mandate:   {"id": Mandate, "status": "active", "scheme": "sepa_core", "metadata": object{}, "links": object{"customer": Owner}},
		"MD0DEAD": {"id": "MD0DEAD", "status": "cancelled", "scheme": "sepa_core", "metadata": object{}, "links": object{"customer": Owner}},
	}}
	for path, run := range map[string]func(*http.Request, *posted) (int, any){
		"/billing_requests": f.ask, "/billing_request_flows": f.flow, "/payments": f.collect, "/refunds": f.refund,
		"/billing_requests/{id}/actions/cancel": f.cancel("pending"), "/payments/{id}/actions/cancel": f.cancel("pending_submission"),
	} {
		f.HandleFunc("POST "+path, f.command(run))
	}
	f.HandleFunc("GET /refunds", f.answer(func(r *http.Request) (int, any) { return http.StatusOK, f.refundsOf(r.URL.Query().Get("payment"), r) }))
	f.HandleFunc("GET /{collection}/{id}", f.answer(func(r *http.Request) (int, any) {
		return f.shown(r.PathValue("collection"), r.PathValue("id"), http.StatusOK)
	}))
	return f
}

// posted is the union of all request bodies.
type posted struct {
	Payments *ordered `json:"payments"`
	Requests *struct {
		Payment  *ordered       `json:"payment_request"`
		Mandate  *ordered       `json:"mandate_request"`
		Metadata map[string]any `json:"metadata"`
		Links    linked         `json:"links"`
		Fallback bool           `json:"fallback_enabled"`
		Purpose  string         `json:"purpose_code"`
	} `json:"billing_requests"`
	Flows *struct {
		Redirect  string            `json:"redirect_uri"`
		Exit      string            `json:"exit_uri"`
		Language  string            `json:"language"`
		Prefilled map[string]string `json:"prefilled_customer"`
		Links     linked            `json:"links"`
	} `json:"billing_request_flows"`
	Refunds *ordered `json:"refunds"`
}

type ordered struct {
	Amount      int64          `json:"amount"`
	Total       int64          `json:"total_amount_confirmation"`
	Currency    string         `json:"currency"`
	Description string         `json:"description"`
	Reference   string         `json:"reference"`
	Scheme      string         `json:"scheme"`
	AppFee      int64          `json:"app_fee"`
	Retry       bool           `json:"retry_if_possible"`
	Metadata    map[string]any `json:"metadata"`
	Links       linked         `json:"links"`
}

type linked struct {
	Mandate  string `json:"mandate"`
	Customer string `json:"customer"`
	Payment  string `json:"payment"`
	Request  string `json:"billing_request"`
}

func (f *Fake) answer(run func(*http.Request) (int, any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		status, said := problem(http.StatusUnauthorized, "invalid_api_usage", "access_token_not_found")
		var body any = said
		if r.Header.Get("Authorization") == "Bearer token" && r.Header.Get("Gocardless-Version") == "2015-07-06" {
			status, body = run(r)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(body); err != nil {
			panic(err)
		}
	}
}

// command runs an operation. An operation that creates an object runs once for each key.
func (f *Fake) command(run func(*http.Request, *posted) (int, any)) http.HandlerFunc {
	return f.answer(func(r *http.Request) (int, any) {
		raw, _ := io.ReadAll(r.Body)
		in := &posted{}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(in); err != nil {
			return problem(http.StatusBadRequest, "invalid_api_usage", "invalid_document_structure")
		}
		key := r.URL.Path + " " + r.Header.Get("Idempotency-Key")
		if made := f.keys[key]; made != "" {
			return http.StatusConflict, object{"error": object{"type": "invalid_state", "code": http.StatusConflict, "message": "Not for the customer.", "errors": []object{
				{"reason": "idempotent_creation_conflict", "message": "x", "links": object{"conflicting_resource_id": made}},
			}}}
		}
		status, body := run(r, in)
		if status == http.StatusCreated && r.URL.Path != "/billing_request_flows" { // flows have no keys
			f.keys[key] = madeBy(body)
		}
		return status, body
	})
}

// madeBy returns the id of the object in an answer.
func madeBy(body any) (id string) {
	answer, _ := body.(object)
	for _, made := range answer {
		if o, is := made.(object); is {
			id, _ = o["id"].(string)
		}
	}
	return id
}

func problem(status int, kind, reason string) (int, object) {
	return status, object{"error": object{"type": kind, "code": status, "message": "Not for the customer.", "errors": []object{{"reason": reason, "message": "x"}}}}
}

func invalid(reason string) (int, any) {
	return problem(http.StatusUnprocessableEntity, "validation_failed", reason)
}

func (f *Fake) id(prefix string) string {
	f.serial++
	return fmt.Sprintf("%s%04d", prefix, f.serial)
}

// shown returns an object in the form of its collection.
func (f *Fake) shown(collection, id string, status int) (int, any) {
	o, there := f.objects[id]
	prefix := map[string]string{"payments": "PM", "billing_requests": "BRQ", "mandates": "MD", "refunds": "RF"}[collection]
	if !there || prefix == "" || !strings.HasPrefix(id, prefix) {
		return problem(http.StatusNotFound, "invalid_api_usage", "resource_not_found")
	}
	return status, object{collection: o}
}

// keep stores an object and shows it as created.
func (f *Fake) keep(collection string, o object) (int, any) {
	id, _ := o["id"].(string)
	f.objects[id] = o
	return f.shown(collection, id, http.StatusCreated)
}

func (f *Fake) collect(_ *http.Request, in *posted) (int, any) {
	p := in.Payments
	of, there := f.objects[p.Links.Mandate]
	switch {
	case !there || of["status"] == "cancelled":
		return invalid("mandate_is_inactive")
	case p.Amount <= 0 || len(p.Currency) != 3 || len(p.Metadata) > 3:
		return invalid("invalid_amount")
	}
	made := f.payment(p.Amount, p.Currency, p.Metadata, "pending_submission")
	f.happened("payments", "created", made)
	return f.keep("payments", made)
}

func (f *Fake) payment(amount int64, currency string, metadata map[string]any, status string) object {
	return object{
		"id": f.id("PM"), "status": status, "amount": amount, "amount_refunded": int64(0), "currency": currency, "metadata": metadata, "retry_if_possible": false,
	}
}

func (f *Fake) ask(_ *http.Request, in *posted) (int, any) {
	r := in.Requests
	switch {
	case r.Payment == nil || r.Payment.Description == "" || r.Payment.Currency != "EUR" && r.Payment.Currency != "GBP":
		return invalid("blank")
	case len(r.Metadata) > 3 || len(r.Payment.Metadata) > 3:
		return invalid("metadata")
	}
	o := object{
		"id": f.id("BRQ"), "status": "pending", "metadata": r.Metadata, "links": object{}, "resources": object{},
		"payment_request": object{"amount": r.Payment.Amount, "currency": r.Payment.Currency, "metadata": r.Payment.Metadata},
	}
	if r.Mandate != nil {
		o["mandate_request"] = object{"currency": r.Mandate.Currency, "scheme": "sepa_core", "metadata": r.Mandate.Metadata}
	}
	return f.keep("billing_requests", o)
}

func (f *Fake) flow(_ *http.Request, in *posted) (int, any) {
	b, there := f.objects[in.Flows.Links.Request]
	if !there || b["status"] != "pending" || in.Flows.Redirect == "nowhere" {
		return invalid("billing_request_not_pending")
	}
	f.Pages++
	id := f.id("BRF")
	return http.StatusCreated, object{"billing_request_flows": object{
		"id": id, "authorisation_url": "https://pay.gocardless.com/billing/static/flow?id=" + id, "redirect_uri": in.Flows.Redirect,
		"links": object{"billing_request": in.Flows.Links.Request},
	}}
}

func (f *Fake) cancel(from string) func(*http.Request, *posted) (int, any) {
	return func(r *http.Request, _ *posted) (int, any) {
		o, there := f.objects[r.PathValue("id")]
		switch {
		case !there:
			return problem(http.StatusNotFound, "invalid_api_usage", "resource_not_found")
		case o["status"] != from:
			return problem(http.StatusUnprocessableEntity, "invalid_state", "cancellation_failed")
		}
		o["status"] = "cancelled"
		collection := strings.Split(r.URL.Path, "/")[1]
		f.happened(collection, "cancelled", o)
		return f.shown(collection, r.PathValue("id"), http.StatusOK)
	}
}

func (f *Fake) refund(_ *http.Request, in *posted) (int, any) {
	r := in.Refunds
	p, there := f.objects[r.Links.Payment]
	if !there || p["status"] != "confirmed" {
		return invalid("payment_not_refundable")
	}
	before, _ := p["amount_refunded"].(int64)
	amount, _ := p["amount"].(int64)
	switch {
	case r.Total != before+r.Amount:
		return invalid("total_amount_confirmation_invalid")
	case r.Total > amount:
		return invalid("refund_payment_invalid_amount")
	}
	p["amount_refunded"] = r.Total
	o := object{"id": f.id("RF"), "status": "submitted", "amount": r.Amount, "currency": p["currency"], "metadata": r.Metadata, "links": object{"payment": r.Links.Payment}}
	f.refunds = append(f.refunds, o)
	f.happened("refunds", "created", o)
	return f.keep("refunds", o)
}

// refundsOf returns a page of a payment's refunds, with at most two refunds.
func (f *Fake) refundsOf(id string, r *http.Request) object {
	found, after := []object{}, r.URL.Query().Get("after") == ""
	for _, o := range f.refunds {
		if links, _ := o["links"].(object); after && links["payment"] == id {
			found = append(found, o)
		}
		after = after || o["id"] == r.URL.Query().Get("after")
	}
	cursors := object{"before": nil, "after": nil}
	if len(found) > 2 {
		found = found[:2]
		cursors["after"] = found[1]["id"]
	}
	return object{"refunds": found, "meta": object{"cursors": cursors, "limit": 500}}
}
