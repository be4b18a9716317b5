package tbank_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/tbank"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T, base, currency string, c *http.Client) *tbank.Client {
	t.Helper()
	made, err := tbank.New(base, terminal, password, currency, c)
	require.NoError(t, err)
	return made
}

func suite() providertest.Suite {
	return providertest.Suite{
		New: func(t *testing.T, base string, c *http.Client) gateway.Provider {
			t.Helper()
			return client(t, base, "EUR", c)
		},
		Fake:       newFake,
		Tokens:     providertest.Tokens{Success: good, Decline: declined, Redirect: "redirect", None: unknown},
		Stored:     providertest.Stored{Token: good, Owner: savedFor},
		Declined:   fsm.EventFailed,
		NoCurrency: true,
		NoPayment:  "9999999",
		Absent:     tbank.Adapter().Absent,
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

// This runs the suite with the bank's own description. Requests and the fake's answers must fit it.
func TestRequestsFitTBanksDescription(t *testing.T) {
	t.Parallel()
	providertest.RunDescribed(t, suite(), providertest.Document{File: "tbank-eacq-v2.json"})
}

// serve returns a client of this server, and the server's requests.
func serve(t *testing.T, h http.Handler) (*tbank.Client, <-chan seen) {
	t.Helper()
	h = providertest.Recorded(t, h)
	got := make(chan seen, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		got <- seen{r.Method + " " + r.RequestURI, string(raw)}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return client(t, s.URL+"/", "", s.Client()), got
}

type seen struct{ line, body string }

// says gives every request the same answer.
func says(t *testing.T, body string) *tbank.Client {
	t.Helper()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
	return c
}

func charge(token string) gateway.Charge {
	return gateway.Charge{
		Details: gateway.Details{Token: token, Stored: token != "redirect", ReturnURL: "https://shop.example/back"},
		Attempt: payment.AttemptID(uuid.Must(uuid.NewV7())), Order: "A-1", Money: rub(1999), Capture: payment.CaptureAutomatic,
		IdempotencyKey: uuid.NewString() + "-pay", Permit: permit(),
	}
}

func rub(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "RUB"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

func charged(t *testing.T, c *tbank.Client, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	return o
}

const savedFor = "customer-1"
