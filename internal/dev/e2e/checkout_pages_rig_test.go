package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/sdk"
)

// sent is a command of a page.
type sent struct{ key, body string }

// pageShop serves an example's page, and stands in for the shop's backend and for the provider.
type pageShop struct {
	*httptest.Server
	t        *testing.T
	provider string
	page     string

	mu sync.Mutex
	// action is the attempt's next action, and rest the actions after it.
	action string
	rest   []string
	// lose loses the responses to completes, and to reads of the status meanwhile. refuse is how many completes are refused, and
	// refusePay refuses pays.
	lose      bool
	refuse    int
	refusePay bool

	approved       bool
	key            string
	status, stage  string
	version        int
	done           map[string]bool
	paid, complete []sent
}

// newPageShop has the example's page with other addresses.
func newPageShop(t *testing.T, provider string) *pageShop {
	t.Helper()
	text, err := os.ReadFile("../../../examples/checkout/" + provider + ".html")
	require.NoError(t, err)
	s := &pageShop{t: t, provider: provider, page: string(text), done: map[string]bool{}}
	for from, to := range map[string]map[string]string{
		"stripe": {"https://js.stripe.com/v3/": "/provider.js"},
		"adyen": {
			"https://checkoutshopper-test.cdn.adyen.com/checkoutshopper/sdk/6.0.0/adyen.js":  "/provider.js",
			"https://checkoutshopper-test.cdn.adyen.com/checkoutshopper/sdk/6.0.0/adyen.css": "/provider.css",
		},
		"paypal": {"https://www.paypal.com/sdk/js?client-id=yours&amp;currency=EUR": "/provider.js"},
	}[provider] {
		s.replace(from, to)
	}
	s.replace("https://pay.shop.example", "")
	switch provider {
	case "stripe":
		s.action = stripeAction
	case "adyen":
		s.action, s.rest = fingerprint, []string{challenge}
	case "paypal":
		s.action = paypalAction
	}
	s.Server = httptest.NewServer(s.routes())
	t.Cleanup(s.Close)
	return s
}

func (s *pageShop) replace(from, to string) {
	s.t.Helper()
	require.Contains(s.t, s.page, from)
	s.page = strings.ReplaceAll(s.page, from, to)
}

func (s *pageShop) routes() http.Handler {
	mux := http.NewServeMux()
	text := func(kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(body))
		}
	}
	script, err := os.ReadFile("testdata/providers/" + s.provider + ".js")
	require.NoError(s.t, err)
	mux.HandleFunc("GET /checkout/A-1", text("text/html; charset=utf-8", s.page))
	mux.HandleFunc("GET /checkout/A-1/payment-methods", text("application/json", `{"paymentMethods":[{"type":"scheme"}]}`))
	mux.HandleFunc("GET /sdk/paylatch.js", text("text/javascript", string(sdk.Script)))
	mux.HandleFunc("GET /provider.js", text("text/javascript", string(script)))
	mux.HandleFunc("GET /bank", text("text/html", `<a id="back" href="/checkout/A-1?redirectResult=r1">Back to the shop</a>`))
	mux.HandleFunc("POST /provider/approve", func(http.ResponseWriter, *http.Request) { s.set(func() { s.approved = true }) })
	mux.HandleFunc("POST /checkout/A-1/pay", s.pay)
	mux.HandleFunc("POST /checkout/A-1/complete", s.completeOnce)
	mux.HandleFunc("GET /checkout/A-1/status", func(w http.ResponseWriter, _ *http.Request) { s.set(func() { s.show(w) }) })
	return mux
}

// set changes how the shop behaves.
func (s *pageShop) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *pageShop) pay(w http.ResponseWriter, r *http.Request) {
	in := read(s.t, r)
	s.set(func() {
		if s.refusePay {
			answers422(w, "validation-failed", "payment_method", "is not taken here")
			return
		}
		s.paid = append(s.paid, in)
		if s.key != "" && s.key != in.key {
			w.WriteHeader(http.StatusConflict)
			return
		}
		if s.key == "" {
			s.key, s.status, s.stage, s.version = in.key, "pending", "awaiting_customer", 1
		}
		s.show(w)
	})
}

// completeOnce takes the details of a new key to the provider.
func (s *pageShop) completeOnce(w http.ResponseWriter, r *http.Request) {
	in := read(s.t, r)
	s.set(func() {
		s.complete = append(s.complete, in)
		switch {
		case r.URL.Query().Get("payment_attempt_id") != pageAttempt:
			w.WriteHeader(http.StatusNotFound)
			return
		case !s.done[in.key] && s.stage != "awaiting_customer":
			w.WriteHeader(http.StatusConflict)
			return
		case !s.done[in.key] && s.refuse > 0:
			s.refuse--
			s.done[in.key] = true
			answers422(w, "validation-failed", "details", "are refused by the provider")
			return
		case !s.done[in.key]:
			s.done[in.key] = true
			s.step()
		}
		s.show(w)
	})
}

// step moves the attempt on.
func (s *pageShop) step() {
	s.version++
	if len(s.rest) > 0 && s.action == fingerprint {
		s.action, s.rest = s.rest[0], s.rest[1:]
		return
	}
	s.stage, s.status = "final", "succeeded"
	if s.provider != "adyen" && !s.approved {
		s.status = "failed"
	}
}

const pageAttempt = "01980d3e-7f2a-7cc1-9d2b-3f0e5a6b7c8d"

func (s *pageShop) show(w http.ResponseWriter) {
	if s.lose {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	a := map[string]any{
		"payment_attempt_id": pageAttempt, "order_id": "A-1", "user_id": "u1", "account": s.provider, "provider_payment_id": nil, "status": s.status,
		"stage": s.stage, "amount": 1999, "currency": "EUR", "amount_captured": 0, "amount_refunded": 0, "amount_disputed": 0,
		"capture": "automatic", "origin": "paylatch", "next_action": nil, "saved_payment_method": nil, "disputes": []any{}, "failure": nil,
		"can_start_new_attempt": s.status == "failed", "next_poll_ms": 50, "version": s.version,
	}
	if s.stage == "awaiting_customer" {
		a["next_action"] = json.RawMessage(s.action)
	}
	if s.provider == "paypal" {
		a["provider_payment_id"] = "5O190127TN364715T"
	}
	if s.status == "failed" {
		a["failure"] = map[string]any{"code": "authentication_failed", "message": "The bank said no.", "provider_code": nil}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", strconv.Quote(strconv.Itoa(s.version)))
	_ = json.NewEncoder(w).Encode(a) //nolint:errchkjson // it always marshals
}

// answers422 answers with a problem that names a field.
func answers422(w http.ResponseWriter, code, field, message string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusUnprocessableEntity)
	_ = json.NewEncoder(w).Encode(map[string]any{ //nolint:errchkjson // it always marshals
		"type": "/problems/" + code, "title": code, "status": http.StatusUnprocessableEntity, "detail": field + " " + message, "code": code, "retryable": false,
		"errors": []any{map[string]string{"field": field, "message": message}},
	})
}

func read(t *testing.T, r *http.Request) sent {
	t.Helper()
	var body json.RawMessage
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		t.Error("a command has no JSON")
	}
	return sent{r.Header.Get("Idempotency-Key"), string(body)}
}

func (s *pageShop) pays() (all []sent) {
	s.set(func() { all = append(all, s.paid...) })
	return all
}

func (s *pageShop) completes() (all []sent) {
	s.set(func() { all = append(all, s.complete...) })
	return all
}

// details are the received details.
func (s *pageShop) details() []string {
	s.t.Helper()
	var all []string
	for _, c := range s.completes() {
		var body struct {
			Details json.RawMessage `json:"details"`
		}
		require.NoError(s.t, json.Unmarshal([]byte(c.body), &body))
		all = append(all, string(body.Details))
	}
	return all
}
