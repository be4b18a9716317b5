package yookassa_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake implements the documented parts of YooKassa that a payment needs. It keeps payments, refunds and idempotency
// keys.
type fake struct {
	*http.ServeMux

	mu       sync.Mutex
	payments []*paid
	refunds  []*refund
	keys     map[string]*saved
	serial   int
}

type object map[string]any

type amount struct {
	Value    string `json:"value"`
	Currency string `json:"currency"`
}

func (a amount) minor() int64 {
	f, err := strconv.ParseFloat(a.Value, 64)
	if err != nil || len(a.Value) < 4 || a.Value[len(a.Value)-3] != '.' {
		return -1
	}
	return int64(f*100 + 0.5)
}

type paid struct {
	id, status, reason string
	confirmation       object
	customer           string
	saves              bool
	amount             amount
	refunded           int64
	metadata           map[string]string
	made               time.Time
}

type refund struct {
	id, payment, status string
	amount              amount
	metadata            map[string]string
}

// saved is the stored answer of a key after the call was executed.
type saved struct {
	request string
	status  int
	body    []byte
}

const (
	shop   = "100500"
	secret = "test_fake"
	// pageSize is smaller than the requested page size, so that every list has several pages.
	pageSize = 2
)

func newFake(*testing.T) http.Handler {
	f := &fake{ServeMux: http.NewServeMux(), keys: map[string]*saved{}}
	f.HandleFunc("POST /v3/payments", f.command(f.create))
	f.HandleFunc("POST /v3/payments/{id}/capture", f.command(f.capture))
	f.HandleFunc("POST /v3/payments/{id}/cancel", f.command(f.cancel))
	f.HandleFunc("POST /v3/refunds", f.command(f.refund))
	f.HandleFunc("GET /v3/payments", f.question(f.list))
	f.HandleFunc("GET /v3/payments/{id}", f.question(f.show))
	f.HandleFunc("GET /v3/refunds", f.question(f.listRefunds))
	f.HandleFunc("GET /v3/refunds/{id}", f.question(f.showRefund))
	return f
}

// request is the union of all request bodies.
type request struct {
	Amount            amount            `json:"amount"`
	PaymentToken      string            `json:"payment_token"`
	PaymentMethodID   string            `json:"payment_method_id"`
	PaymentMethodData object            `json:"payment_method_data"`
	Confirmation      map[string]string `json:"confirmation"`
	Capture           bool              `json:"capture"`
	Metadata          map[string]string `json:"metadata"`
	PaymentID         string            `json:"payment_id"`
	Save              bool              `json:"save_payment_method"`
	Customer          string            `json:"merchant_customer_id"`
	Receipt           *struct {
		Customer map[string]string `json:"customer"`
		Items    []struct {
			Quantity json.Number `json:"quantity"`
			Amount   amount      `json:"amount"`
		} `json:"items"`
	} `json:"receipt"`
}

// mismatched reports whether a receipt has no recipient or does not match the amount.
func (in request) mismatched() bool {
	if in.Receipt == nil {
		return false
	}
	sum := 0.0
	for _, item := range in.Receipt.Items {
		n, _ := item.Quantity.Float64()
		sum += n * float64(item.Amount.minor())
	}
	return int64(sum+0.5) != in.Amount.minor() || in.Receipt.Customer["email"]+in.Receipt.Customer["phone"] == ""
}

// command runs an operation once for each key. Another request with the same key gets "Idempotence key duplicated".
func (f *fake) command(run func(id string, in request) (int, object)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !authentic(w, r) {
			return
		}
		raw, _ := io.ReadAll(r.Body)
		var in request
		key := r.Header.Get("Idempotence-Key")
		readable := json.Unmarshal(raw, &in) == nil
		if strings.HasSuffix(r.URL.Path, "/cancel") {
			readable = len(raw) == 0
		}
		if key == "" || r.Header.Get("Content-Type") != "application/json" || !readable {
			write(w, http.StatusBadRequest, yookassaError("invalid_request", ""))
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		said := r.URL.Path + string(raw)
		known := f.keys[key]
		if known != nil && known.request != said {
			write(w, http.StatusBadRequest, yookassaError("invalid_request", "Idempotence-Key"))
			return
		}
		if known == nil {
			heard := httptest.NewRecorder()
			status, answer := run(r.PathValue("id"), in)
			write(heard, status, answer)
			known = &saved{said, status, heard.Body.Bytes()}
			f.keys[key] = known
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(known.status)
		_, _ = w.Write(known.body)
	}
}

func (f *fake) question(run func(r *http.Request) (int, object)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !authentic(w, r) {
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		status, said := run(r)
		write(w, status, said)
	}
}

func authentic(w http.ResponseWriter, r *http.Request) bool {
	if user, password, _ := r.BasicAuth(); user != shop || password != secret {
		write(w, http.StatusUnauthorized, yookassaError("invalid_credentials", ""))
		return false
	}
	return true
}

func write(w http.ResponseWriter, status int, said object) {
	raw, err := json.Marshal(said)
	if err != nil {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

func yookassaError(code, parameter string) object {
	e := object{"type": "error", "id": "ab5a11cd-13cc-4e33-af8b-75a74e18dd09", "code": code, "description": "Not for the customer."}
	if parameter != "" {
		e["parameter"] = parameter
	}
	return e
}

func invalid(parameter string) (int, object) {
	return http.StatusBadRequest, yookassaError("invalid_request", parameter)
}

func missing() (int, object) { return http.StatusNotFound, yookassaError("not_found", "") }

func (f *fake) id() string {
	f.serial++
	return fmt.Sprintf("2fake000-000f-5000-8000-%012d", f.serial)
}

const savedMethod, savedFor = "22e18a2f-000f-5000-a000-1db6312b7767", "user-1@shop.example"

// create selects the result by the name of the one-time token. YooKassa creates such tokens from test cards
// (https://yookassa.ru/developers/payment-acceptance/testing-and-going-live/testing).
func (f *fake) create(_ string, in request) (int, object) {
	p := &paid{id: f.id(), amount: in.Amount, metadata: in.Metadata, made: time.Now(), customer: in.Customer, saves: in.Save}
	page := in.PaymentToken == "" && in.PaymentMethodID == ""
	next := confirmations(p.id)[in.Confirmation["type"]]
	returns := in.Confirmation["return_url"] != "" || in.Confirmation["type"] != "redirect" && in.Confirmation["type"] != "mobile_application"
	switch {
	case in.Amount.minor() <= 0:
		return invalid("amount.value")
	case in.mismatched():
		return invalid("receipt")
	case len(in.Confirmation) > 0 && (next == nil || !returns):
		return invalid("confirmation.return_url")
	case page && next == nil:
		return invalid("confirmation")
	case in.PaymentMethodID != "" && in.PaymentMethodID != savedMethod:
		return invalid("payment_method_id")
	case page, in.PaymentToken == "3ds":
		p.status, p.confirmation = "pending", next
	case in.PaymentToken == "declined":
		p.status, p.reason = "canceled", "general_decline"
	case in.PaymentToken == "poor":
		p.status, p.reason = "canceled", "insufficient_funds"
	case in.PaymentToken == "nobody":
		return invalid("payment_token")
	case in.Capture:
		p.status = "succeeded"
	default:
		p.status = "waiting_for_capture"
	}
	f.payments = append([]*paid{p}, f.payments...)
	return http.StatusOK, p.render()
}

// confirmations returns the answer for each way of confirmation.
func confirmations(id string) map[string]object {
	url := "https://yoomoney.ru/checkout/payments/v2/contract?orderId=" + id
	return map[string]object{
		"redirect": {"type": "redirect", "confirmation_url": url}, "mobile_application": {"type": "mobile_application", "confirmation_url": url},
		"embedded": {"type": "embedded", "confirmation_token": "ct-" + id}, "external": {"type": "external"},
		"qr": {"type": "qr", "confirmation_data": "https://qr.nspk.ru/" + id},
	}
}

// confirm confirms as the customer at YooKassa.
func (f *fake) confirm(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.payment(id).status = "succeeded"
}

func (p *paid) render() object {
	o := object{
		"id": p.id, "status": p.status, "amount": p.amount, "metadata": p.metadata, "description": "19.99",
		"created_at": p.made.UTC().Format("2006-01-02T15:04:05.000Z"), "test": true, "refundable": p.status == "succeeded",
		"paid":      p.status == "succeeded" || p.status == "waiting_for_capture",
		"recipient": object{"account_id": shop, "gateway_id": "100700"},
	}
	if p.confirmation != nil && p.status == "pending" {
		o["confirmation"] = p.confirmation
	}
	if p.customer != "" {
		o["merchant_customer_id"] = p.customer
	}
	if p.saves && p.status == "succeeded" {
		o["payment_method"] = object{
			"type": "bank_card", "id": p.id, "saved": true, "status": "active", "title": "Bank card *4477",
			"card": object{"first6": "555555", "last4": "4477", "expiry_month": "12", "expiry_year": "2030", "card_type": "MasterCard"},
		}
	}
	if p.refunded > 0 {
		o["refunded_amount"] = amount{fmt.Sprintf("%d.%02d", p.refunded/100, p.refunded%100), p.amount.Currency}
	}
	if p.reason != "" {
		o["cancellation_details"] = object{"party": "payment_network", "reason": p.reason}
	}
	return o
}

func (f *fake) payment(id string) *paid {
	i := slices.IndexFunc(f.payments, func(p *paid) bool { return p.id == id })
	if i < 0 {
		return nil
	}
	return f.payments[i]
}

func (f *fake) show(r *http.Request) (int, object) {
	if p := f.payment(r.PathValue("id")); p != nil {
		return http.StatusOK, p.render()
	}
	if r.PathValue("id") == savedMethod {
		o := (&paid{id: savedMethod, status: "succeeded", amount: amount{"1.00", "RUB"}, made: time.Now(), metadata: map[string]string{}}).render()
		o["merchant_customer_id"], o["payment_method"] = savedFor, object{"type": "bank_card", "id": savedMethod, "saved": true, "status": "active"}
		return http.StatusOK, o
	}
	return missing()
}

// list applies the time filters, and sorts the newest first.
func (f *fake) list(r *http.Request) (int, object) {
	query := r.URL.Query()
	var found []object
	for _, p := range f.payments {
		from, err := time.Parse(time.RFC3339, query.Get("created_at.gte"))
		if query.Has("created_at.gte") && (err != nil || p.made.Before(from)) {
			continue
		}
		to, err := time.Parse(time.RFC3339, query.Get("created_at.lte"))
		if query.Has("created_at.lte") && (err != nil || p.made.After(to)) {
			continue
		}
		after, err := time.Parse(time.RFC3339, query.Get("created_at.gt"))
		if query.Has("created_at.gt") && (err != nil || !p.made.After(after)) {
			continue
		}
		found = append(found, p.render())
	}
	return paged(found, query.Get("cursor"))
}

func paged(found []object, cursor string) (int, object) {
	from, _ := strconv.Atoi(cursor)
	to := min(from+pageSize, len(found))
	page := object{"type": "list", "items": append([]object{}, found[from:to]...)}
	if to < len(found) {
		page["next_cursor"] = strconv.Itoa(to)
	}
	return http.StatusOK, page
}

func (f *fake) capture(id string, in request) (int, object) {
	p := f.payment(id)
	switch {
	case p == nil:
		return missing()
	case p.status != "waiting_for_capture":
		return invalid("")
	case in.Amount.minor() <= 0 || in.Amount.minor() > p.amount.minor():
		return invalid("amount.value")
	case in.mismatched():
		return invalid("receipt")
	}
	p.status, p.amount = "succeeded", in.Amount
	return http.StatusOK, p.render()
}

func (f *fake) cancel(id string, _ request) (int, object) {
	p := f.payment(id)
	switch {
	case p == nil:
		return missing()
	case p.status != "waiting_for_capture":
		return invalid("")
	}
	p.status, p.reason = "canceled", "canceled_by_merchant"
	return http.StatusOK, p.render()
}

func (f *fake) refund(_ string, in request) (int, object) {
	p := f.payment(in.PaymentID)
	switch {
	case p == nil:
		return missing()
	case p.status != "succeeded", in.Amount.minor() <= 0, in.Amount.minor() > p.amount.minor()-p.refunded:
		return invalid("amount.value")
	case in.mismatched():
		return invalid("receipt")
	}
	p.refunded += in.Amount.minor()
	made := &refund{id: f.id(), payment: p.id, status: "succeeded", amount: in.Amount, metadata: in.Metadata}
	f.refunds = append([]*refund{made}, f.refunds...)
	return http.StatusOK, made.render()
}

func (r *refund) render() object {
	return object{
		"id": r.id, "payment_id": r.payment, "status": r.status, "amount": r.amount, "metadata": r.metadata,
		"created_at": "2017-11-03T11:52:31.827Z",
	}
}

func (f *fake) showRefund(r *http.Request) (int, object) {
	for _, made := range f.refunds {
		if made.id == r.PathValue("id") {
			return http.StatusOK, made.render()
		}
	}
	return missing()
}
