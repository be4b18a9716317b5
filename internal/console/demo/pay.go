package demo

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/url"

	"github.com/google/uuid"
)

// maxBody is the largest accepted request of a page, in bytes.
const maxBody = 16 << 10

// payment is the choices of the page: the payment method, and nothing about money.
type payment struct {
	Method struct {
		Token string `json:"token"`
	} `json:"payment_method"`
}

// pay takes a pay, of the script or of the form.
func (s *shop) pay(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		s.payByForm(w, r)
		return
	}
	var p payment
	if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
		http.Error(w, "send a payment", http.StatusBadRequest)
		return
	}
	a, err := s.sendPay(r, r.Header.Get("Idempotency-Key"), p.Method.Token)
	pass(w, a, err)
}

// sendPay passes a pay on to paylatch, under the page's own key. The body is the
// same each time: under one key it must be.
func (s *shop) sendPay(r *http.Request, key, token string) (response, error) {
	id := r.PathValue("order")
	return s.backend.call(r.Context(), http.MethodPost, "/v1/orders/"+url.PathEscape(id)+"/pay",
		map[string]any{"payment_method": map[string]string{"token": token}, "return_url": s.PublicURL + checkoutPath(id)},
		http.Header{"Idempotency-Key": {key}})
}

// status serves the status of an attempt to a page without a status token.
func (s *shop) status(w http.ResponseWriter, r *http.Request) {
	headers := http.Header{}
	for _, name := range []string{"If-None-Match", "Prefer"} {
		if v := r.Header.Get(name); v != "" {
			headers.Set(name, v)
		}
	}
	id := r.URL.Query().Get("payment_attempt_id")
	if uuid.Validate(id) != nil {
		http.Error(w, "there is no such attempt", http.StatusNotFound)
		return
	}
	a, err := s.backend.call(r.Context(), http.MethodGet, "/v1/payment-attempts/"+url.PathEscape(id), nil, headers)
	pass(w, a, err)
}

// pass gives the page paylatch's own response. Without one the page has to retry, which
// it does with the same key.
func pass(w http.ResponseWriter, a response, err error) {
	if err != nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the payment service can't be reached", http.StatusBadGateway)
		return
	}
	for _, name := range []string{"Content-Type", "Etag", "Retry-After", "Idempotency-Result", "Idempotency-Replayed"} {
		if v := a.header.Get(name); v != "" {
			w.Header().Set(name, v)
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// payByForm pays without a script and shows the order. The order has the true state, even if this request failed.
func (s *shop) payByForm(w http.ResponseWriter, r *http.Request) {
	key, token := r.PostFormValue("client_request_id"), r.PostFormValue("token")
	a, err := s.sendPay(r, key, token)
	if err == nil && (a.ok() || a.status == http.StatusConflict) {
		http.Redirect(w, r, checkoutPath(r.PathValue("order")), http.StatusSeeOther)
		return
	}
	o, found, readErr := s.backend.order(r.Context(), r.PathValue("order"))
	if readErr != nil || !found {
		s.render(w, r, http.StatusServiceUnavailable, messagePage("One moment",
			"The shop can't be reached. Go back and press Pay again. You are not charged twice."))
		return
	}
	c := newCheckout(o, false)
	c.Method = token
	if err != nil || a.status >= http.StatusInternalServerError || a.status == http.StatusTooManyRequests {
		c.Text = "The payment could not be sent. Press Pay again. You are not charged twice."
		s.showAs(w, r, http.StatusServiceUnavailable, c)
		return
	}
	c.Phase = refused
	s.showAs(w, r, http.StatusUnprocessableEntity, c)
}
