package checkout_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/client"
	clientapi "github.com/paylatch/paylatch/client/api"
	"github.com/paylatch/paylatch/client/checkout"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api/contract"
)

// request is what paylatch got.
type request struct{ Call, Body, Key, User string }

// fixture is a shop at a paylatch that keeps what it gets.
type fixture struct {
	http.Handler

	mu   sync.Mutex
	seen []request
}

// newFixture makes a shop whose customers name themselves in a header, and where u1 has the order A-1.
func newFixture(t *testing.T, answer http.HandlerFunc, change func(*checkout.Shop)) *fixture {
	t.Helper()
	r := &fixture{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.seen = append(r.seen, request{q.Method + " " + q.URL.String(), string(body), q.Header.Get("Idempotency-Key"), q.Header.Get("On-Behalf-Of")})
		r.mu.Unlock()
		answer(w, q)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, "token", client.Options{
		HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, FirstPause: time.Millisecond, Tries: 2,
	})
	require.NoError(t, err)
	shop := checkout.Shop{
		Client: c, Log: slog.New(slog.DiscardHandler),
		User: func(q *http.Request) (string, error) { return q.Header.Get("X-User"), nil },
		Order: func(_ context.Context, user, id string) (clientapi.CreateOrder, error) {
			if user != "u1" || id != "A-1" {
				return clientapi.CreateOrder{}, checkout.ErrNoOrder
			}
			return clientapi.CreateOrder{Amount: 1999, Currency: "EUR"}, nil
		},
	}
	if change != nil {
		change(&shop)
	}
	routes, err := checkout.New(shop)
	require.NoError(t, err)
	r.Handler = http.StripPrefix("/checkout", routes)
	return r
}

func created(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Etag", `"1"`)
	w.Header().Set("X-Internal", "1")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"ok":true}`)
}

// send sends a request of u1's page; headers of the form "Name: value" replace those that it has.
func (r *fixture) send(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	q := httptest.NewRequest(method, "https://shop.example"+path, strings.NewReader(body))
	q.Header.Set("X-User", "u1")
	q.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		q.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, q)
	return w
}

const (
	key = "Idempotency-Key: press-0001"
	pay = `{"payment_method":{"token":"tok"},"return_url":"https://shop.example/A-1"}`
)

func TestRoutes(t *testing.T) {
	t.Parallel()
	r := newFixture(t, created, func(s *checkout.Shop) {
		s.Pay = func(_ context.Context, user, id string, p *clientapi.Pay) error {
			p.Account = new(user + "-" + id)
			return nil
		}
	})
	w := r.send(http.MethodPost, "/checkout/A-1", `{"amount":1}`)
	require.Equal(t, http.StatusCreated, w.Code)
	require.JSONEq(t, `{"ok":true}`, w.Body.String())
	require.Equal(t, http.Header{"Content-Type": {"application/json"}, "Etag": {`"1"`}, "Cache-Control": {"no-store"}}, w.Header())
	r.send(http.MethodPost, "/checkout/A-1/pay", pay, key)
	r.send(http.MethodGet, "/checkout/A-1/status?payment_attempt_id=a%2F1", "")
	r.send(http.MethodPost, "/checkout/A-1/complete?payment_attempt_id=a1", `{"details":{"x":1.50}}`, key)
	require.Equal(t, []request{
		{"POST /v1/orders", `{"amount":1999,"currency":"EUR","order_id":"A-1"}`, "create-order-A-1", "u1"},
		{"POST /v1/orders/A-1/pay", `{"account":"u1-A-1","payment_method":{"token":"tok"},"return_url":"https://shop.example/A-1"}`, "press-0001", "u1"},
		{"GET /v1/payment-attempts/a%2F1", "", "", "u1"},
		{"POST /v1/payment-attempts/a1/complete", `{"details":{"x":1.50}}`, "press-0001", "u1"},
	}, r.seen)
}

// The key of an order is a key of the contract, for the shortest and the longest id.
func TestKeysOfOrders(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"7", "A-1", strings.Repeat("x", 128)} {
		r := newFixture(t, created, func(s *checkout.Shop) {
			s.Order = func(context.Context, string, string) (clientapi.CreateOrder, error) {
				return clientapi.CreateOrder{Amount: 1999, Currency: "EUR"}, nil
			}
		})
		require.Equal(t, http.StatusCreated, r.send(http.MethodPost, "/checkout/"+id, "").Code)
		require.Len(t, r.seen, 1)
		read, err := idempotency.ParseKey([]string{r.seen[0].Key})
		require.NoError(t, err, r.seen[0].Key)
		require.Contains(t, string(read), id)
	}
}

// What a page may not do never reaches paylatch.
func TestRefusals(t *testing.T) {
	t.Parallel()
	const to = "/checkout/A-1/pay"
	large := `{"payment_method":{"token":"` + strings.Repeat("x", 96<<10) + `"}}`
	for name, c := range map[string]struct {
		path, body string
		headers    []string
		status     int
	}{
		"an unknown member":        {to, `{"new_one":1}`, []string{key}, http.StatusUnprocessableEntity},
		"a member in capitals":     {to, `{"Capture":"manual"}`, []string{key}, http.StatusUnprocessableEntity},
		"a wrong type":             {to, `{"return_url":1}`, []string{key}, http.StatusUnprocessableEntity},
		"more than details":        {"/checkout/A-1/complete?payment_attempt_id=a1", `{"details":{},"amount":1}`, []string{key}, http.StatusUnprocessableEntity},
		"a complete of no attempt": {"/checkout/A-1/complete", `{"details":{}}`, []string{key}, http.StatusUnprocessableEntity},
		"no key":                   {to, pay, nil, http.StatusBadRequest},
		"half an object":           {to, "{", []string{key}, http.StatusBadRequest},
		"a list":                   {to, "[]", []string{key}, http.StatusBadRequest},
		"null":                     {to, "null", []string{key}, http.StatusBadRequest},
		"two objects":              {to, "{}{}", []string{key}, http.StatusBadRequest},
		"a form":                   {to, pay, []string{key, "Content-Type: text/plain"}, http.StatusUnsupportedMediaType},
		"a large body":             {to, large, []string{key}, http.StatusRequestEntityTooLarge},
		"nobody":                   {to, pay, []string{key, "X-User: "}, http.StatusUnauthorized},
		"another order":            {"/checkout/A-2", "", nil, http.StatusNotFound},
		"another's order":          {"/checkout/A-1", "", []string{"X-User: u2"}, http.StatusNotFound},
		"another address":          {"/checkout/A-1/else", "", nil, http.StatusNotFound},
		"another site":             {to, pay, []string{key, "Sec-Fetch-Site: cross-site"}, http.StatusForbidden},
		"another site's order":     {"/checkout/A-1", "", []string{"Sec-Fetch-Site: same-site"}, http.StatusForbidden},
		"another origin":           {to, pay, []string{key, "Origin: https://evil.example"}, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newFixture(t, created, nil)
			w := r.send(http.MethodPost, c.path, c.body, c.headers...)
			require.Equal(t, c.status, w.Code, w.Body.String())
			require.Empty(t, r.seen)
		})
	}
	r := newFixture(t, created, nil)
	require.Equal(t, http.StatusUnprocessableEntity, r.send(http.MethodGet, "/checkout/A-1/status", "").Code)
	require.Equal(t, http.StatusMethodNotAllowed, r.send(http.MethodGet, to, "").Code)
	require.Empty(t, r.seen)
}

// A page may set the members of a pay request that a customer's own token could, without the account, the reference and
// the lines: the shop's backend sends the request, and a service's lines would replace the order's receipts.
func TestEachMemberOfAPay(t *testing.T) {
	t.Parallel()
	d, err := contract.Load(api.Document)
	require.NoError(t, err)
	r := newFixture(t, created, nil)
	schema, ok := d.Components.Schemas.Find("Pay")
	require.True(t, ok)
	paths := map[string]bool{}
	members(d, schema, "", true, paths)
	require.Greater(t, len(paths), 35)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		allowed := paths[path] && path != "account" && path != "customer.reference" && path != "lines" && !strings.HasPrefix(path, "lines.")
		body := `null`
		for _, name := range slices.Backward(strings.Split(path, ".")) {
			body = `{"` + name + `":` + body + `}`
		}
		before := len(r.seen)
		w := r.send(http.MethodPost, "/checkout/A-1/pay", body, key)
		if allowed {
			require.Equal(t, http.StatusCreated, w.Code, "%s: %s", path, w.Body)
			continue
		}
		require.Equal(t, http.StatusUnprocessableEntity, w.Code, path)
		var p clientapi.Problem
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p))
		require.Equal(t, path, (*p.Errors)[0].Field)
		require.Len(t, r.seen, before)
	}
}

// members adds the paths of an object's members, and whether a customer may set them.
func members(d *contract.Document, s *contract.Schema, prefix string, may bool, paths map[string]bool) {
	for _, m := range s.Properties {
		may := may && slices.Contains(m.Value.Roles, "customer")
		if of := d.Resolved(m.Value); len(of.Properties) > 0 {
			members(d, of, prefix+m.Name+".", may, paths)
		} else {
			paths[prefix+m.Name] = may
		}
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	r := newFixture(t, created, func(s *checkout.Shop) { s.Origins = []string{"https://www.shop.example"} })
	for _, h := range [][]string{{"Sec-Fetch-Site: same-origin"}, {"Sec-Fetch-Site: none"}, {"Origin: https://shop.example"}, {"Sec-Fetch-Site: same-site", "Origin: https://www.shop.example"}} {
		require.Equal(t, http.StatusCreated, r.send(http.MethodPost, "/checkout/A-1/pay", pay, append(h, key)...).Code, h)
	}
	_, err := checkout.New(checkout.Shop{})
	require.Error(t, err)
}

// Without a response the page is asked to send the same again.
func TestNoResponse(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"silence":         func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"a refused token": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
	} {
		w := newFixture(t, answer, nil).send(http.MethodPost, "/checkout/A-1/pay", pay, key)
		require.Equal(t, http.StatusBadGateway, w.Code, name)
		require.Equal(t, "1", w.Header().Get("Retry-After"))
		var p clientapi.Problem
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p))
		require.True(t, p.Retryable)
	}
	refusing := newFixture(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"code":"order-already-paid"}`, http.StatusConflict)
	}, nil)
	w := refusing.send(http.MethodPost, "/checkout/A-1/pay", pay, key)
	require.Equal(t, http.StatusConflict, w.Code)
	require.Contains(t, w.Body.String(), "order-already-paid")
	unchanged := newFixture(t, func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("If-None-Match") == `"3"` && q.Header.Get("Prefer") == "wait=20" {
			w.WriteHeader(http.StatusNotModified)
		}
	}, nil)
	require.Equal(t, http.StatusNotModified, unchanged.send(http.MethodGet, "/checkout/A-1/status?payment_attempt_id=a1", "", `If-None-Match: "3"`, "Prefer: wait=20").Code)
	broken := newFixture(t, created, func(s *checkout.Shop) {
		s.User = func(*http.Request) (string, error) { return "", errors.New("no sessions") }
	})
	require.Equal(t, http.StatusInternalServerError, broken.send(http.MethodPost, "/checkout/A-1/pay", pay, key).Code)
}
