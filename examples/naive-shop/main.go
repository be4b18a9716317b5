// Command naive-shop is a shop that charges twice. It calls its provider directly, as a first version often does, and takes each
// request to pay for a new payment. `paylatch rehearse` shows the double charges. Do not copy from it.
package main

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"os"
	"time"
)

const (
	price   = 1999 // minor units
	timeout = 30 * time.Second
)

const checkoutPage = `<!DOCTYPE html>
<html lang="en">
<title>Checkout</title>
<h1>Checkout</h1>
<p>Order {{.}}: 19.99 EUR</p>
<button id="pay">Pay</button>
<p id="error" role="alert"></p>
<script>
	document.getElementById("pay").onclick = async () => {
		try {
			const answer = await fetch("/pay?order={{.}}", { method: "POST" })
			if (!answer.ok) throw new Error(await answer.text())
			location.href = "/thanks?order={{.}}"
		} catch {
			document.getElementById("error").textContent = "Something went wrong. Please try again."
		}
	}
</script>
</html>`

const thanksPage = `<!DOCTYPE html>
<html lang="en">
<title>Thank you</title>
<h1>Thank you for order {{.}}</h1>
</html>`

// shop charges its customers at a provider.
type shop struct {
	provider string
	client   *http.Client
}

func main() {
	s := &shop{cmp.Or(os.Getenv("PROVIDER_URL"), "http://127.0.0.1:9090"), &http.Client{Timeout: timeout}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /checkout", show(checkoutPage))
	mux.HandleFunc("GET /thanks", show(thanksPage))
	mux.HandleFunc("POST /pay", s.pay)
	server := http.Server{Addr: cmp.Or(os.Getenv("SHOP_LISTEN"), "127.0.0.1:3001"), Handler: mux, ReadTimeout: time.Minute}
	slog.Error("the shop has ended", "error", server.ListenAndServe())
}

// show responds with a page about an order.
func show(text string) http.HandlerFunc {
	page := template.Must(template.New("").Parse(text))
	return func(w http.ResponseWriter, r *http.Request) {
		if err := page.Execute(w, r.FormValue("order")); err != nil {
			slog.Warn("a page was not sent", "error", err)
		}
	}
}

// pay charges the order. A second request charges it again: the key is new each time, and nothing is stored.
func (s *shop) pay(w http.ResponseWriter, r *http.Request) {
	order := r.FormValue("order")
	body, err := json.Marshal(map[string]any{"reference": order, "order_id": order, "amount": price, "currency": "EUR", "token": "tok_success"})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	charge, err := http.NewRequestWithContext(r.Context(), http.MethodPost, s.provider+"/v1/charges", bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	charge.Header.Set("Content-Type", "application/json")
	charge.Header.Set("Idempotency-Key", rand.Text())
	answer, err := s.client.Do(charge)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer answer.Body.Close() //nolint:errcheck // nothing is read
	if answer.StatusCode != http.StatusCreated {
		http.Error(w, "not charged: "+answer.Status, http.StatusBadGateway)
		return
	}
	_, _ = fmt.Fprintln(w, "charged")
}
