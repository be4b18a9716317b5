package cloudpayments_test

import (
	"bytes"
	"encoding/json"
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
	"github.com/paylatch/paylatch/internal/provider/cloudpayments"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func suite() providertest.Suite {
	return providertest.Suite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Provider {
			return cloudpayments.New(base, publicID, secret, c)
		},
		Fake:   newFake,
		Tokens: providertest.Tokens{Success: good, Decline: declined, Redirect: "redirect", None: unknown},
		Step: providertest.Step{Token: cryptogram("3ds"), Customer: func(_ *testing.T, _ http.Handler, id string) json.RawMessage {
			return json.RawMessage(`{"MD":"` + id + `","PaRes":"proven"}`)
		}},
		Charges:      []string{cryptogram("3ds")},
		Stored:       providertest.Stored{Token: good, Owner: account, Bound: true},
		Declined:     fsm.EventFailed,
		Codeless:     true,
		ForgetsPages: true,
		NoPayment:    "99",
		Absent:       cloudpayments.Adapter().Absent,
		NoRefund:     "98",
		Key:          func(r providertest.Request) string { return r.Header.Get("X-Request-Id") },
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

// This runs the suite with new cards. No call cancels a payment that waits for 3-D Secure, see complete_test.go.
func TestConformanceOfACryptogram(t *testing.T) {
	t.Parallel()
	s := suite()
	s.Tokens = providertest.Tokens{Success: cryptogram("good"), Decline: cryptogram("declined"), None: cryptogram("nobody")}
	providertest.Run(t, s)
}

// serve returns a client of this server, and the server's requests.
func serve(t *testing.T, h http.Handler) (*cloudpayments.Client, <-chan seen) {
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
	return cloudpayments.New(s.URL+"/", publicID, secret, s.Client()), got
}

type seen struct {
	line   string
	header http.Header
	body   string
}

// says gives every request the same answer.
func says(t *testing.T, status int, body string) *cloudpayments.Client {
	t.Helper()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	return c
}

func charge(token string) gateway.Charge {
	return gateway.Charge{
		Details: gateway.Details{Customer: gateway.Customer{Reference: account}, Token: token, Stored: len(token) < 50 && token != "redirect", ReturnURL: "https://shop.example/back"},
		Attempt: payment.AttemptID(uuid.Must(uuid.NewV7())), Order: "A-1", Money: rub(1999), Capture: payment.CaptureAutomatic,
		IdempotencyKey: uuid.NewString() + "-pay", Permit: permit(),
	}
}

func rub(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "RUB"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

func charged(t *testing.T, c *cloudpayments.Client, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	return o
}
