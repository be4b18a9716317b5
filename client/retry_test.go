package client_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/client/api"
)

// server answers one request after the other and keeps the requests.
type server struct {
	*httptest.Server

	mu   sync.Mutex
	came []string
	keys []string
}

// serve answers each try with the next of the answers, and the last one for ever.
func serve(t *testing.T, answers ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.came = append(s.came, fmt.Sprint(r.Method, " ", r.URL, " ", string(body)))
		s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
		answer := answers[min(len(s.came), len(answers))-1]
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// tries are the requests that came so far; usedKeys their keys.
func (s *server) tries() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.came)
}

func (s *server) usedKeys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.keys)
}

func (s *server) client(t *testing.T) *client.Client {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	c, err := client.New(s.URL, "token", client.Options{
		HTTP: &http.Client{Transport: transport}, FirstPause: time.Millisecond, MaxPause: 4 * time.Millisecond, Tries: 5,
	})
	require.NoError(t, err)
	return c
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if code >= 400 {
			w.Header().Set("Content-Type", "application/problem+json")
		} else {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

const attempt = `{"payment_attempt_id":"a1","order_id":"A-1","status":"succeeded","stage":"final","amount":1999,"currency":"EUR"}`

// Each try has the same key and the same body, for every cause of a missing response.
func TestRetriesKeepTheKey(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]http.HandlerFunc{
		"connection lost": cut,
		"storage down":    status(503, `{"code":"storage-unavailable","status":503,"retryable":true}`),
		"a proxy's page":  status(502, `<html>`),
		"too many":        status(429, `{"code":"quota-exceeded","status":429,"retryable":true}`),
		"under way":       status(409, `{"code":"request-in-progress","status":409,"retryable":true}`),
	} {
		for _, key := range []string{"cart-0001", ""} {
			t.Run(name+"/"+key, func(t *testing.T) {
				t.Parallel()
				s := serve(t, first, cut, status(201, attempt))
				a, err := s.client(t).Pay(t.Context(), "A-1", api.Pay{PaymentMethod: api.PaymentMethod{Token: "tok"}}, client.Command{Key: key, OnBehalfOf: "u1"})
				require.NoError(t, err)
				require.Equal(t, api.AttemptStatusSucceeded, a.Status)
				require.Len(t, s.tries(), 3)
				for i := range s.tries() {
					require.Equal(t, `POST /v1/orders/A-1/pay {"payment_method":{"token":"tok"}}`, s.tries()[i])
					require.Equal(t, s.usedKeys()[0], s.usedKeys()[i])
				}
				if key != "" {
					require.Equal(t, key, s.usedKeys()[0])
				}
				require.GreaterOrEqual(t, len(s.usedKeys()[0]), 8)
			})
		}
	}
}

func TestEachCallHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	s := serve(t, status(201, attempt))
	c := s.client(t)
	for range 2 {
		_, err := c.Pay(t.Context(), "A-1", api.Pay{}, client.Command{})
		require.NoError(t, err)
	}
	require.NotEqual(t, s.usedKeys()[0], s.usedKeys()[1])
}

// A request is not repeated after a final response.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := serve(t, status(409, `{"type":"/problems/order-already-paid","title":"Paid","status":409,"detail":"It is paid.","code":"order-already-paid","request_id":"r1","retryable":false}`))
	_, err := s.client(t).Pay(t.Context(), "A-1", api.Pay{}, client.Command{})
	var p *client.ProblemError
	require.ErrorAs(t, err, &p)
	require.Equal(t, "order-already-paid", p.Code)
	require.Equal(t, "paylatch: 409 order-already-paid: It is paid. (request r1)", err.Error())
	require.Len(t, s.tries(), 1)

	busy := serve(t, status(409, `{"status":409,"code":"payment-in-progress","retryable":true}`))
	_, err = busy.client(t).Pay(t.Context(), "A-1", api.Pay{}, client.Command{})
	require.ErrorAs(t, err, &p)
	require.Equal(t, "payment-in-progress", p.Code)
	require.Len(t, busy.tries(), 1, "it is another payment that is in progress")
}

// After the last try the last response counts.
func TestGivingUp(t *testing.T) {
	t.Parallel()
	s := serve(t, cut, status(503, `{"status":503,"code":"storage-unavailable","retryable":true}`))
	_, err := s.client(t).Pay(t.Context(), "A-1", api.Pay{}, client.Command{})
	var p *client.ProblemError
	require.ErrorAs(t, err, &p)
	require.Equal(t, "storage-unavailable", p.Code)
	require.Len(t, s.tries(), 5)

	s = serve(t, cut)
	_, err = s.client(t).Pay(t.Context(), "A-1", api.Pay{}, client.Command{})
	require.ErrorIs(t, err, io.EOF)
	require.Len(t, s.tries(), 5)
	s = serve(t, status(502, `<html>`))
	_, err = s.client(t).Order(t.Context(), "A-1")
	require.ErrorAs(t, err, &p)
	require.Equal(t, 502, p.Status)
	require.Empty(t, p.Code)
}

// A write without a key is sent once.
func TestWithoutAKeyNothingIsRepeated(t *testing.T) {
	t.Parallel()
	s := serve(t, status(503, `{}`))
	_, err := s.client(t).API.CheckAttemptWithResponse(t.Context(), "a1", nil)
	require.NoError(t, err)
	require.Len(t, s.tries(), 1)
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "1")
		status(503, `{}`)(w, r)
	}, status(200, `{"order_id":"A-1"}`))
	began := time.Now()
	o, err := s.client(t).Order(t.Context(), "A-1")
	require.NoError(t, err)
	require.Equal(t, "A-1", o.OrderID)
	require.GreaterOrEqual(t, time.Since(began), time.Second)
}

// The other commands: address, body and result.
func TestCommands(t *testing.T) {
	t.Parallel()
	cmd := client.Command{Key: "key-00000001", OnBehalfOf: "u1"}
	amount := int64(5)
	for want, call := range map[string]func(c *client.Client) error{
		`POST /v1/orders {"amount":5,"currency":"EUR"}`: func(c *client.Client) error {
			_, err := c.CreateOrder(t.Context(), api.CreateOrder{Amount: 5, Currency: "EUR"}, cmd)
			return err
		},
		`GET /v1/orders/A-1 `: func(c *client.Client) error { _, err := c.Order(t.Context(), "A-1"); return err },
		`PATCH /v1/orders/A-1 {"amount":5}`: func(c *client.Client) error {
			_, err := c.AmendOrder(t.Context(), "A-1", api.AmendOrder{Amount: new(api.Amount(5))}, cmd)
			return err
		},
		`POST /v1/orders/A-1/cancel {}`: func(c *client.Client) error { _, err := c.CancelOrder(t.Context(), "A-1", cmd); return err },
		`POST /v1/orders/A-1/attempts {}`: func(c *client.Client) error {
			_, err := c.Register(t.Context(), "A-1", api.RegisterAttempt{}, cmd)
			return err
		},
		`GET /v1/payment-attempts/a1 `: func(c *client.Client) error { _, err := c.Attempt(t.Context(), "a1"); return err },
		`POST /v1/payment-attempts/a1/confirm {"amount":5}`: func(c *client.Client) error {
			_, err := c.Confirm(t.Context(), "a1", api.Confirm{Amount: &amount}, cmd)
			return err
		},
		`POST /v1/payment-attempts/a1/cancel {}`: func(c *client.Client) error { _, err := c.Cancel(t.Context(), "a1", cmd); return err },
		`POST /v1/payment-attempts/a1/report {}`: func(c *client.Client) error {
			_, err := c.Report(t.Context(), "a1", api.ReportAttempt{}, cmd)
			return err
		},
		`POST /v1/payment-attempts/a1/refunds {"amount":5}`: func(c *client.Client) error {
			_, err := c.CreateRefund(t.Context(), "a1", api.CreateRefund{Amount: &amount}, cmd)
			return err
		},
		`GET /v1/refunds/r1 `: func(c *client.Client) error { _, err := c.Refund(t.Context(), "r1"); return err },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer token" || r.Method == http.MethodPost && r.Header.Get("On-Behalf-Of") != "u1" {
					t.Error("headers: ", r.Header)
				}
				status(200, `{}`)(w, r)
			})
			require.NoError(t, call(s.client(t)))
			require.Equal(t, []string{want}, s.tries())
		})
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "pay.example", "ftp://pay.example", "https://", "://"} {
		_, err := client.New(base, "token", client.Options{})
		require.Error(t, err, base)
	}
	_, err := client.New("https://pay.example", "token", client.Options{})
	require.NoError(t, err)
}
