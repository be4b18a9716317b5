package demo

import (
	"net/http"
	"net/url"

	"github.com/google/uuid"
)

// The only thing on sale.
const (
	price    = 1999
	currency = "EUR"
)

func (s *shop) showShop(w http.ResponseWriter, r *http.Request) {
	s.render(w, r, http.StatusOK, shopPage(uuid.NewString(), ""))
}

// createOrder makes an order of the form's one-time id: sent twice, it is one.
func (s *shop) createOrder(w http.ResponseWriter, r *http.Request) {
	id := r.PostFormValue("order_request_id")
	if uuid.Validate(id) != nil {
		id = uuid.NewString()
	}
	name := "demo-" + id
	a, err := s.backend.call(r.Context(), http.MethodPost, "/v1/orders",
		map[string]any{"order_id": name, "amount": price, "currency": currency, "description": "Two tickets"},
		http.Header{"Idempotency-Key": {name}})
	if err != nil || !a.ok() {
		s.render(w, r, http.StatusServiceUnavailable, shopPage(id, "The order could not be created. Try again; it is created only once."))
		return
	}
	http.Redirect(w, r, checkoutPath(name), http.StatusSeeOther)
}

func checkoutPath(order string) string { return "/demo/orders/" + url.PathEscape(order) }

func formPath(order string) string { return checkoutPath(order) + "/form" }
