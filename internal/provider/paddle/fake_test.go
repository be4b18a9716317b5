package paddle_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const key = "pdl_sdbx_apikey_1"

// fakePayments implements the documented parts of Paddle Billing that a payment needs. It reads requests strictly, by
// the documented members.
type fakePayments struct {
	*http.ServeMux

	mu           sync.Mutex
	transactions []*transaction
	adjustments  []*adjustment
	// pending: refunds wait for their approval. before runs before each request.
	pending bool
	before  func(line string, f *fakePayments)
	// most is the maximum number of objects in a page, if it is less than the number that may be requested.
	most int
}

type transaction struct {
	id, status, currency, url string
	custom                    json.RawMessage
	items                     []int64
	at                        time.Time
	booked                    dates
}

type adjustment struct {
	id, action, status, transaction, currency, reason string
	items                                             map[string]int64
	total                                             int64
	booked                                            dates
}

func newPayments(*testing.T) http.Handler { return payments() }

func payments() *fakePayments {
	f := &fakePayments{ServeMux: http.NewServeMux()}
	for pattern, run := range map[string]func(r *http.Request, body []byte) (int, any){
		"POST /transactions": f.create, "GET /transactions/{id}": f.get, "GET /transactions": f.list, "PATCH /transactions/{id}": f.update,
		"POST /adjustments": f.adjust, "GET /adjustments": f.listAdjustments,
	} {
		f.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			raw, _ := io.ReadAll(r.Body)
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.before != nil {
				f.before(r.Method+" "+r.URL.Path, f)
			}
			status, said := failure(http.StatusForbidden, "authentication_malformed")
			if r.Header.Get("Authorization") == "Bearer "+key && r.Header.Get("Paddle-Version") == "1" {
				status, said = run(r, raw)
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Request-Id", "r")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(said)
		})
	}
	return f
}

type object map[string]any

func failure(status int, code string) (int, any) {
	return status, object{"error": object{"type": "request_error", "code": code, "detail": "Jane Doe is not for errors.", "documentation_url": "https://developer.paddle.com/errors"}, "meta": object{"request_id": "r"}}
}

func data(status int, entity any) (int, any) {
	return status, object{"data": entity, "meta": object{"request_id": "r"}}
}

// listed returns a page of a list, which begins after an id.
func listed[T any](r *http.Request, most int, all []T, id func(T) string, render func(T) object) (int, any) {
	query := r.URL.Query()
	size, err := strconv.Atoi(query.Get("per_page"))
	if err != nil || size > 50 {
		return failure(http.StatusBadRequest, "invalid_field")
	}
	if most > 0 {
		size = min(size, most)
	}
	from := 1 + slices.IndexFunc(all, func(one T) bool { return query.Has("after") && id(one) == query.Get("after") })
	to := min(from+size, len(all))
	page := []object{}
	for _, one := range all[from:to] {
		page = append(page, render(one))
	}
	return http.StatusOK, object{"data": page, "meta": object{"request_id": "r", "pagination": object{"per_page": size, "has_more": to < len(all), "next": "https://elsewhere.example/"}}}
}

func strictly(body []byte, into any) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(into) == nil
}

func text(units int64) string { return strconv.FormatInt(units, 10) }

func (t *transaction) total() (sum int64) {
	for _, units := range t.items {
		sum += units
	}
	return sum
}

func (t *transaction) item(i int) string {
	return fmt.Sprintf("txnitm_%s_%d", strings.TrimPrefix(t.id, "txn_"), i)
}

func (t *transaction) render() object {
	lines := []object{}
	for i, units := range t.items {
		lines = append(lines, object{"id": t.item(i), "quantity": 1, "totals": object{"subtotal": "0", "tax": "0", "discount": "0", "total": text(units)}})
	}
	o := object{
		"id": t.id, "status": t.status, "currency_code": t.currency, "custom_data": t.custom, "collection_mode": "automatic", "payments": []object{},
		"details":  object{"totals": object{"total": text(t.total()), "grand_total": text(t.total()), "currency_code": t.currency}, "line_items": lines},
		"checkout": nil,
	}
	if t.url != "" {
		o["checkout"] = object{"url": t.url}
	}
	t.booked.show(o, text(t.total()))
	return o
}

func (a *adjustment) render() object {
	items := []object{}
	for id, units := range a.items {
		items = append(items, object{"id": "adjitm_1", "item_id": id, "type": "partial", "amount": text(units)})
	}
	if len(items) == 0 {
		items = append(items, object{"id": "adjitm_1", "item_id": "txnitm_1", "type": "full", "amount": text(a.total)})
	}
	o := object{
		"id": a.id, "action": a.action, "status": a.status, "transaction_id": a.transaction, "currency_code": a.currency, "reason": a.reason, "items": items,
		"totals": object{"total": text(a.total), "currency_code": a.currency},
	}
	a.booked.showMade(o)
	return o
}

// created has the documented members of POST /transactions that the adapter sends.
type created struct {
	Items []struct {
		Quantity int `json:"quantity"`
		Price    struct {
			Description string `json:"description"`
			Tax         string `json:"tax_mode"`
			Unit        struct {
				Amount   string `json:"amount"`
				Currency string `json:"currency_code"`
			} `json:"unit_price"`
			Quantity struct {
				Minimum int `json:"minimum"`
				Maximum int `json:"maximum"`
			} `json:"quantity"`
			Product struct {
				Name     string `json:"name"`
				Category string `json:"tax_category"`
			} `json:"product"`
		} `json:"price"`
	} `json:"items"`
	Currency string          `json:"currency_code"`
	Mode     string          `json:"collection_mode"`
	Custom   json.RawMessage `json:"custom_data"`
	Customer string          `json:"customer_id"`
	Checkout struct {
		URL string `json:"url"`
	} `json:"checkout"`
}

func (f *fakePayments) create(_ *http.Request, body []byte) (int, any) {
	var in created
	if !strictly(body, &in) || len(in.Items) == 0 || in.Mode != "automatic" {
		return failure(http.StatusBadRequest, "invalid_field")
	}
	t := &transaction{id: fmt.Sprintf("txn_%026d", len(f.transactions)+1), status: "draft", currency: in.Currency, custom: in.Custom, at: time.Now()}
	for _, one := range in.Items {
		units, err := strconv.ParseInt(one.Price.Unit.Amount, 10, 64)
		if err != nil || units < 1 || one.Quantity != 1 || one.Price.Quantity.Maximum != 1 || one.Price.Tax != "internal" || one.Price.Unit.Currency != in.Currency ||
			one.Price.Product.Name == "" || one.Price.Description == "" {
			return failure(http.StatusBadRequest, "invalid_field")
		}
		if one.Price.Product.Category != "standard" && one.Price.Product.Category != "saas" {
			return failure(http.StatusBadRequest, "product_tax_category_not_approved")
		}
		t.items = append(t.items, units)
	}
	if in.Customer != "" {
		t.status = "ready"
	}
	base := in.Checkout.URL
	if base == "" {
		base = "https://shop.example/pay"
	}
	t.url = base + "?_ptxn=" + t.id
	f.transactions = append(f.transactions, t)
	return data(http.StatusCreated, t.render())
}

func (f *fakePayments) find(id string) *transaction {
	for _, t := range f.transactions {
		if t.id == id {
			return t
		}
	}
	return nil
}

func (f *fakePayments) get(r *http.Request, _ []byte) (int, any) {
	t := f.find(r.PathValue("id"))
	if t == nil {
		return failure(http.StatusNotFound, "not_found")
	}
	return data(http.StatusOK, t.render())
}

func (f *fakePayments) update(r *http.Request, body []byte) (int, any) {
	t := f.find(r.PathValue("id"))
	var in struct{ Status string }
	switch {
	case t == nil:
		return failure(http.StatusNotFound, "not_found")
	case !strictly(body, &in) || in.Status != "canceled":
		return failure(http.StatusBadRequest, "invalid_field")
	case t.status != "ready" && t.status != "billed":
		return failure(http.StatusBadRequest, "transaction_invalid_status_change")
	}
	t.status = "canceled"
	return data(http.StatusOK, t.render())
}

// pay pays as the customer in the checkout.
func (f *fakePayments) pay(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.find(id).status = "completed"
}

func (f *fakePayments) adjust(_ *http.Request, body []byte) (int, any) {
	var in struct {
		Action, Type, Reason string
		Transaction          string `json:"transaction_id"`
		Items                []struct {
			Item         string `json:"item_id"`
			Type, Amount string
		}
	}
	if !strictly(body, &in) || in.Action != "refund" || in.Reason == "" {
		return failure(http.StatusBadRequest, "invalid_field")
	}
	of := f.find(in.Transaction)
	switch {
	case of == nil:
		return failure(http.StatusNotFound, "not_found")
	case of.status != "completed":
		return failure(http.StatusBadRequest, "adjustment_transaction_invalid_status_for_refund")
	}
	a := &adjustment{
		id: fmt.Sprintf("adj_%026d", len(f.adjustments)+1), action: "refund", status: "approved", transaction: of.id, currency: of.currency, reason: in.Reason,
		items: map[string]int64{},
	}
	left := map[string]int64{}
	for i, units := range of.items {
		left[of.item(i)] = units
	}
	for _, one := range f.adjustments {
		if one.transaction != of.id || one.status == "rejected" {
			continue
		}
		if one.status == "pending_approval" {
			return failure(http.StatusBadRequest, "adjustment_pending_refund_request")
		}
		for id, units := range one.items {
			left[id] -= units
		}
	}
	if in.Type == "full" {
		a.items = left
	}
	for _, one := range in.Items {
		units, err := strconv.ParseInt(one.Amount, 10, 64)
		if has, known := left[one.Item]; err != nil || !known || units < 1 || units > has || in.Type != "partial" {
			return failure(http.StatusBadRequest, "adjustment_total_amount_above_remaining_allowed")
		}
		a.items[one.Item] += units
	}
	for _, units := range a.items {
		a.total += units
	}
	if a.total == 0 {
		return failure(http.StatusBadRequest, "adjustment_total_amount_cannot_be_zero")
	}
	if f.pending {
		a.status = "pending_approval"
	}
	f.adjustments = append(f.adjustments, a)
	return data(http.StatusCreated, a.render())
}
