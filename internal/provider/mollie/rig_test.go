package mollie_test

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
	"github.com/paylatch/paylatch/internal/provider/mollie"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const hook = "https://shop.example/webhooks/mollie"

func suite() providertest.Suite {
	return providertest.Suite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Provider {
			return mollie.New(base, key, hook, c)
		},
		Fake: func(t *testing.T) http.Handler {
			t.Helper()
			return newFake(t)
		},
		Tokens: providertest.Tokens{Success: "cst_8wmqcHMN4U", Decline: "cst_nocard", Redirect: "ideal", None: "cst_nobody"},
		Stored: providertest.Stored{
			Token: "cst_8wmqcHMN4U", Owner: "cst_8wmqcHMN4U", Forms: []string{"cst_8wmqcHMN4U:mdt_h3gAaD5zP", "mdt_h3gAaD5zP"},
			OwnerOf: func(token string) string { return token },
		},
		Declined:  fsm.EventFailed,
		NoPayment: "tr_WDqYK6vllg",
		NoRefund:  "re_4qqhO89gsT",
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

// This runs the suite with Mollie's own description. Requests and the fake's answers must fit it.
func TestRequestsFitMolliesDescription(t *testing.T) {
	t.Parallel()
	providertest.RunDescribed(t, suite(), providertest.Document{File: "mollie-payments.json"})
}

// serve returns a client of this server, and the server's requests.
func serve(t *testing.T, h http.Handler) (*mollie.Client, <-chan seen) {
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
	return mollie.New(s.URL+"/", key, hook, s.Client()), got
}

type seen struct {
	line   string
	header http.Header
	body   string
}

// says gives every request the same answer.
func says(t *testing.T, status int, body string) *mollie.Client {
	t.Helper()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	return c
}

func charge(token string) gateway.Charge {
	return gateway.Charge{
		Details: gateway.Details{Customer: gateway.Customer{Reference: strings.SplitN(token, ":", 2)[0]}, Token: token, Stored: strings.HasPrefix(token, "cst_"), ReturnURL: "https://shop.example/back"},
		Attempt: payment.AttemptID(uuid.New()), Order: "A-1", Money: euro(1999), Capture: payment.CaptureAutomatic,
		IdempotencyKey: uuid.NewString() + "-pay", Permit: permit(),
	}
}

func manual(c gateway.Charge) gateway.Charge {
	c.Capture = payment.CaptureManual
	return c
}

func euro(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "EUR"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

func charged(t *testing.T, c *mollie.Client, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	return o
}
