package lemonsqueezy_test

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

const (
	key     = "eyJ0eXAi.test"
	storeID = "101"
	variant = "2002"
)

// fake implements the documented parts of Lemon Squeezy that a payment needs. It reads requests strictly, by the
// documented members. A checkout does not show whether it was paid, and an order does not name its checkout.
type fake struct {
	*http.ServeMux

	mu        sync.Mutex
	currency  string
	checkouts []*checkout
	orders    []*order
	// silent: the response to a refund does not show the refund yet.
	silent bool
	// most is the maximum number of objects in a page, if it is less than the number that may be requested.
	most int
}

type checkout struct {
	id    string
	price int64
	data  json.RawMessage
	at    time.Time
	order string
}

type order struct {
	id, status, currency string
	total, refunded      int64
	test                 bool
	// made, changed and back are the order's dates. A zero date is not shown.
	made, changed, back time.Time
}

func newFake() *fake {
	f := &fake{ServeMux: http.NewServeMux(), currency: "EUR"}
	for pattern, run := range map[string]func(r *http.Request, body []byte) (int, any){
		"POST /v1/checkouts": f.create, "GET /v1/checkouts": f.list, "GET /v1/checkouts/{id}": f.checkout,
		"GET /v1/orders": f.listOrders, "GET /v1/orders/{id}": f.order, "POST /v1/orders/{id}/refund": f.refund,
	} {
		f.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			raw, _ := io.ReadAll(r.Body)
			f.mu.Lock()
			defer f.mu.Unlock()
			status, answer := failure(http.StatusUnauthorized, "Unauthenticated.")
			if r.Header.Get("Authorization") == "Bearer "+key && r.Header.Get("Accept") == media && (len(raw) == 0 || r.Header.Get("Content-Type") == media) {
				status, answer = run(r, raw)
			}
			w.Header().Set("Content-Type", media)
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(answer)
		})
	}
	return f
}

const media = "application/vnd.api+json"

type object map[string]any

func failure(status int, title string) (int, any) {
	return status, object{"jsonapi": object{"version": "1.0"}, "errors": []object{{"status": strconv.Itoa(status), "title": title, "detail": "Jane Doe is not for errors."}}}
}

func data(status int, one object) (int, any) {
	return status, object{"jsonapi": object{"version": "1.0"}, "links": object{"self": "https://elsewhere.example/"}, "data": one}
}

func strictly(body []byte, into any) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(into) == nil
}

func (c *checkout) render(preview any) object {
	return object{"type": "checkouts", "id": c.id, "attributes": object{
		"store_id": 101, "variant_id": 2002, "custom_price": c.price, "checkout_data": c.data, "preview": preview,
		"created_at": c.at.UTC().Format("2006-01-02T15:04:05.000000Z"), "expires_at": nil, "test_mode": false,
		"url": "https://shop.lemonsqueezy.example/checkout/custom/" + c.id + "?signature=abc",
	}}
}

func (o *order) render() object {
	attributes := object{
		"store_id": 101, "identifier": "104e18a2-d755-4d4b-80c4-" + fmt.Sprintf("%012s", o.id), "currency": o.currency, "total": o.total,
		"refunded_amount": o.refunded, "status": o.status, "user_name": "Jane Doe", "refunded": o.refunded == o.total, "refunded_at": nil, "test_mode": o.test,
	}
	for name, at := range map[string]time.Time{"created_at": o.made, "updated_at": o.changed, "refunded_at": o.back} {
		if !at.IsZero() {
			attributes[name] = at.UTC().Format("2006-01-02T15:04:05.000000Z")
		}
	}
	return object{"type": "orders", "id": o.id, "attributes": attributes}
}

// related are the relationships of a checkout.
type related struct {
	Data struct{ Type, ID string }
}

// created has the documented members of POST /v1/checkouts that the adapter sends.
type created struct {
	Data struct {
		Type       string
		Attributes struct {
			Price   int64 `json:"custom_price"`
			Product struct {
				Name     string
				Redirect string `json:"redirect_url"`
				Variants []int  `json:"enabled_variants"`
			} `json:"product_options"`
			Options struct {
				Discount *bool `json:"discount"`
			} `json:"checkout_options"`
			Data    json.RawMessage `json:"checkout_data"`
			Expires time.Time       `json:"expires_at"`
			Preview bool
			Test    bool `json:"test_mode"`
		}
		Relationships struct{ Store, Variant related }
	}
}

// prefilled are the members of checkout_data.
type prefilled struct {
	Email, Name string
	Billing     struct{ Country, Zip string } `json:"billing_address"`
	Custom      map[string]string
}

func (f *fake) create(_ *http.Request, body []byte) (int, any) {
	var in created
	a := &in.Data.Attributes
	switch {
	case !strictly(body, &in) || !strictly(a.Data, &prefilled{}) || in.Data.Type != "checkouts" || a.Price < 1 || !a.Preview:
		return failure(http.StatusUnprocessableEntity, "Unprocessable Entity")
	case in.Data.Relationships.Store.Data != struct{ Type, ID string }{"stores", storeID}:
		return failure(http.StatusNotFound, "Not Found")
	case in.Data.Relationships.Variant.Data != struct{ Type, ID string }{"variants", variant}, !slices.Equal(a.Product.Variants, []int{2002}):
		return failure(http.StatusUnprocessableEntity, "Unprocessable Entity")
	case a.Options.Discount == nil || *a.Options.Discount || a.Expires.IsZero() || a.Product.Name == "":
		return failure(http.StatusUnprocessableEntity, "Unprocessable Entity")
	}
	c := &checkout{id: fmt.Sprintf("ac470bd4-7c41-474d-b6cd-%012d", len(f.checkouts)+1), price: a.Price, data: a.Data, at: time.Now()}
	f.checkouts = append(f.checkouts, c)
	return data(http.StatusCreated, c.render(object{"currency": f.currency, "total": a.Price}))
}

// list lists the newest checkout first.
func (f *fake) list(r *http.Request, _ []byte) (int, any) {
	if r.URL.Query().Get("filter[variant_id]") != variant {
		return failure(http.StatusBadRequest, "Bad Request")
	}
	all := slices.Clone(f.checkouts)
	slices.Reverse(all)
	return listed(r, f.most, all, func(c *checkout) object { return c.render([]int{}) })
}

// listOrders lists the newest order first.
func (f *fake) listOrders(r *http.Request, _ []byte) (int, any) {
	all := slices.Clone(f.orders)
	slices.Reverse(all)
	return listed(r, f.most, all, (*order).render)
}

// listed returns a numbered page of a list.
func listed[T any](r *http.Request, most int, all []T, render func(T) object) (int, any) {
	query := r.URL.Query()
	size, err := strconv.Atoi(query.Get("page[size]"))
	number, bad := strconv.Atoi(query.Get("page[number]"))
	if err != nil || bad != nil || size > 100 || query.Get("filter[store_id]") != storeID {
		return failure(http.StatusBadRequest, "Bad Request")
	}
	if most > 0 {
		size = min(size, most)
	}
	page := []object{}
	for _, one := range all[min(len(all), (number-1)*size):min(len(all), number*size)] {
		page = append(page, render(one))
	}
	last := max(1, (len(all)+size-1)/size)
	return http.StatusOK, object{"data": page, "meta": object{"page": object{"currentPage": number, "lastPage": last, "perPage": size, "total": len(all)}}}
}

func (f *fake) checkout(r *http.Request, _ []byte) (int, any) {
	if c := f.find(r.PathValue("id")); c != nil {
		return data(http.StatusOK, c.render([]int{}))
	}
	return failure(http.StatusNotFound, "Not Found")
}

func (f *fake) find(id string) *checkout {
	for _, c := range f.checkouts {
		if c.id == id {
			return c
		}
	}
	return nil
}

// pay pays as the customer on the page. Each call creates an order.
func (f *fake) pay(id string) *order {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.find(id)
	o := &order{id: strconv.Itoa(5001 + len(f.orders)), status: "paid", currency: f.currency, total: c.price}
	f.orders, c.order = append(f.orders, o), o.id
	return o
}

// ordered returns the id of a checkout's last order, which its webhook contains.
func (f *fake) ordered(t *testing.T, id string) string {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.find(id).order
}

func (f *fake) sold(id string) *order {
	for _, o := range f.orders {
		if o.id == id {
			return o
		}
	}
	return nil
}

func (f *fake) order(r *http.Request, _ []byte) (int, any) {
	if o := f.sold(r.PathValue("id")); o != nil {
		return data(http.StatusOK, o.render())
	}
	return failure(http.StatusNotFound, "Not Found")
}

func (f *fake) refund(r *http.Request, body []byte) (int, any) {
	var in struct {
		Data struct {
			Type, ID   string
			Attributes struct{ Amount int64 }
		}
	}
	o := f.sold(r.PathValue("id"))
	switch {
	case o == nil:
		return failure(http.StatusNotFound, "Not Found")
	case !strictly(body, &in) || in.Data.Type != "orders" || in.Data.ID != o.id || in.Data.Attributes.Amount < 1:
		return failure(http.StatusUnprocessableEntity, "Unprocessable Entity")
	case in.Data.Attributes.Amount > o.total-o.refunded || strings.HasPrefix(o.status, "f"):
		return failure(http.StatusUnprocessableEntity, "The refund amount is too high.")
	}
	before := *o
	if o.refunded += in.Data.Attributes.Amount; o.refunded == o.total {
		o.status = "refunded"
	}
	if f.silent {
		return data(http.StatusOK, before.render())
	}
	return data(http.StatusOK, o.render())
}
