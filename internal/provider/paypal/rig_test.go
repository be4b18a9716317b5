package paypal_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/paypal"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

func suite() providertest.Suite {
	return providertest.Suite{
		Absent: paypal.Adapter().Absent,
		New: func(_ *testing.T, base string, c *http.Client) gateway.Provider {
			return paypal.New(base, clientID, secret, c, atNoon)
		},
		Fake: func(t *testing.T) http.Handler {
			t.Helper()
			return newFake(t)
		},
		Tokens:    providertest.Tokens{Success: "card:8kk8451t", Decline: "card:declined", Redirect: "paypal", None: "paypal:nobody"},
		Step:      providertest.Step{Token: "paypal", Customer: approve},
		Stored:    providertest.Stored{Token: "card:8kk8451t", Owner: vaultedFor, Forms: []string{"paypal:8kk8451u"}},
		Declined:  fsm.EventFailed,
		Abandons:  true,
		NoPayment: "5O190127TN364715T",
		NoRefund:  "1JU08902781691411",
		Key:       func(r providertest.Request) string { return r.Header.Get("PayPal-Request-Id") },
		Aside:     func(r providertest.Request) bool { return r.Path == "/v1/oauth2/token" },
	}
}

// approve approves as the customer on PayPal's page.
func approve(t *testing.T, h http.Handler, id string) json.RawMessage {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/checkoutnow/"+id, nil))
	require.Equal(t, http.StatusNoContent, w.Code)
	return nil
}

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

// This runs the suite with PayPal's own descriptions. Requests and the fake's answers must fit them. The descriptions do
// not cover access tokens.
func TestRequestsFitPayPalsDescriptions(t *testing.T) {
	t.Parallel()
	providertest.RunDescribed(t, suite(),
		providertest.Document{File: "paypal-checkout-orders-v2.json", Paths: "/v2/checkout/"},
		providertest.Document{File: "paypal-payments-payment-v2.json", Paths: "/v2/payments/"},
	)
}

// serve returns a client of this server, and the server's requests except those for access tokens.
func serve(t *testing.T, h http.Handler) (*paypal.Client, <-chan seen) {
	t.Helper()
	h = providertest.Recorded(t, h)
	got := make(chan seen, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/v1/oauth2/token" {
			got <- seen{r.Method + " " + r.RequestURI, r.Header.Clone(), string(raw)}
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return paypal.New(s.URL+"/", clientID, secret, s.Client(), atNoon), got
}

type seen struct {
	line   string
	header http.Header
	body   string
}

// refuses issues access tokens, shows an approved order, and gives every command the same answer.
func refuses(t *testing.T, status int, body string) *paypal.Client {
	t.Helper()
	f := newFake(t)
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/oauth2/token":
			f.ServeHTTP(w, r)
			return
		case r.Method == http.MethodGet:
			write(w, http.StatusOK, object{"id": "5O190127TN364715T", "status": "APPROVED"})
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	return c
}

// says issues access tokens, and gives every other request the same answer.
func says(t *testing.T, status int, body string) *paypal.Client {
	t.Helper()
	f := newFake(t)
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/oauth2/token" {
			f.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	return c
}

func charge(token string) gateway.Charge {
	return gateway.Charge{
		Details: gateway.Details{Token: token, Stored: strings.Contains(token, ":"), ReturnURL: "https://shop.example/back"},
		Attempt: payment.AttemptID(uuid.New()), Order: "A-1", Money: euro(1999), Capture: payment.CaptureAutomatic,
		IdempotencyKey: uuid.NewString() + "-pay", Permit: permit(),
	}
}

// completion returns the call that finishes a charge's order with this id.
func completion(ch gateway.Charge, id string) gateway.Completion {
	return gateway.Completion{
		Attempt: ch.Attempt, Order: ch.Order, Container: id, Money: ch.Money, Capture: ch.Capture,
		IdempotencyKey: ch.IdempotencyKey + "-complete", Permit: ch.Permit,
	}
}

func completed(t *testing.T, c *paypal.Client, cp gateway.Completion) gateway.Outcome {
	t.Helper()
	o, err := c.Complete(t.Context(), cp)
	require.NoError(t, err)
	return o
}

func manual(c gateway.Charge) gateway.Charge {
	c.Capture = payment.CaptureManual
	return c
}

func euro(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "EUR"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

func charged(t *testing.T, c *paypal.Client, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	return o
}

const vaultedFor = "customer_4029352050"
