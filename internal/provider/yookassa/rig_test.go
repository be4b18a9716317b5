package yookassa_test

import (
	"bytes"
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
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/yookassa"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func suite() providertest.Suite {
	return providertest.Suite{
		Absent: yookassa.Adapter().Absent,
		New: func(_ *testing.T, base string, c *http.Client) gateway.Provider {
			return yookassa.New(base, shop, secret, c)
		},
		Fake:            newFake,
		Tokens:          providertest.Tokens{Success: "good+u7PDj/OWsOg=", Decline: "declined", Redirect: "redirect", None: "nobody"},
		Stored:          providertest.Stored{Token: savedMethod, Owner: savedFor},
		Declined:        fsm.EventFailed,
		CancelsOnlyHeld: true,
		NoPayment:       "215d8da0-000f-50be-b000-0003308c89be",
		NoRefund:        "216749da-000f-50be-b000-096747fad91e",
		Key:             func(r providertest.Request) string { return r.Header.Get("Idempotence-Key") },
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

// This runs the suite with YooKassa's own description. Requests and the fake's answers must fit it.
func TestRequestsFitYooKassasDescription(t *testing.T) {
	t.Parallel()
	providertest.RunDescribed(t, suite(), providertest.Document{File: "yookassa-v3.json", Prefix: "/v3"})
}

// serve returns a client of this server, and the server's requests.
func serve(t *testing.T, h http.Handler) (*yookassa.Client, <-chan seen) {
	t.Helper()
	h = providertest.Recorded(t, h)
	got := make(chan seen, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		got <- seen{r.Method + " " + r.RequestURI, r.Header.Clone(), string(raw)}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return yookassa.New(s.URL+"/", shop, secret, s.Client()), got
}

type seen struct {
	line   string
	header http.Header
	body   string
}

// says gives every request the same answer, except that a payment has no refunds.
func says(t *testing.T, status int, body string) *yookassa.Client {
	t.Helper()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/refunds") && strings.Contains(body, "refunded_amount") {
			_, _ = io.WriteString(w, `{"type":"list","items":[]}`)
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	return c
}

func charge(token string) gateway.Charge {
	return gateway.Charge{
		Details: gateway.Details{Token: token, Stored: token == savedMethod, ReturnURL: "https://shop.example/back"},
		Attempt: payment.AttemptID(uuid.Must(uuid.NewV7())), Order: "A-1", Money: rub(1999), Capture: payment.CaptureAutomatic,
		IdempotencyKey: uuid.NewString() + "-pay", Permit: permit(),
	}
}

func rub(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "RUB"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

func charged(t *testing.T, c *yookassa.Client, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	return o
}
