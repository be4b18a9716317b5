package razorpay_test

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

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/razorpay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Razorpay publishes no OpenAPI description. So the fake reads requests strictly, by the documented fields.
func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

// This runs the suite with orders, which Razorpay's script pays.
func TestConformanceOfOrders(t *testing.T) {
	t.Parallel()
	s := suite()
	s.Tokens = providertest.Tokens{Success: "checkout"}
	s.NoPayment = "order_ExjpAUN3gVHrPJ"
	s.Customer = func(t *testing.T, on http.Handler, id, _ string) {
		t.Helper()
		f, ok := on.(*fake)
		require.True(t, ok)
		f.agree(id, "captured")
	}
	providertest.Run(t, s)
}

func suite() providertest.Suite {
	return providertest.Suite{
		Absent: razorpay.Adapter().Absent,
		New: func(_ *testing.T, base string, c *http.Client) gateway.Provider {
			return razorpay.New(base, keyID, secret, c)
		},
		Fake: func(t *testing.T) http.Handler {
			t.Helper()
			return newFake(t)
		},
		Customer: func(t *testing.T, on http.Handler, id, _ string) {
			t.Helper()
			f, ok := on.(*fake)
			require.True(t, ok)
			f.pay(id)
		},
		Tokens:    providertest.Tokens{Success: "upi", Redirect: "redirect"},
		Step:      providertest.Step{Token: "checkout", Customer: agrees},
		Stored:    providertest.Stored{Forms: []string{"token_4lsdksD31GaZ09", "cust_1Aa00000000001"}},
		NoPayment: "plink_ExjpAUN3gVHrPJ",
		NoRefund:  "rfnd_FgRAHdNOM4ZVbO",
		Key:       func(r providertest.Request) string { return r.Header.Get("X-Refund-Idempotency") },
		Keyless:   func(r providertest.Request) bool { return !strings.HasSuffix(r.Path, "/refund") },
	}
}

// agrees pays as the customer in the script, and returns the script's result.
func agrees(t *testing.T, on http.Handler, order string) json.RawMessage {
	t.Helper()
	f, ok := on.(*fake)
	require.True(t, ok)
	return returned(order, f.agree(order, "authorized"), secret)
}

// serve returns a client of this server, and the server's requests.
func serve(t *testing.T, h http.Handler) (*razorpay.Client, <-chan seen) {
	t.Helper()
	h = providertest.Recorded(t, h)
	got := make(chan seen, 300)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		got <- seen{r.Method + " " + r.RequestURI, r.Header.Clone(), string(raw)}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return razorpay.New(s.URL+"/", keyID, secret, s.Client()), got
}

type seen struct {
	line   string
	header http.Header
	body   string
}

// says gives every request the same answer, except that a paid link has no refunds.
func says(t *testing.T, status int, body string) *razorpay.Client {
	t.Helper()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/refunds") && strings.Contains(body, `"paid"`) {
			_, _ = io.WriteString(w, `{"items":[]}`)
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	return c
}

func charge(token string) gateway.Charge {
	return gateway.Charge{
		Details: gateway.Details{Token: token, ReturnURL: "https://shop.example/back"},
		Attempt: payment.AttemptID(uuid.New()), Order: "A-1", Money: rupees(199900), Capture: payment.CaptureAutomatic,
		IdempotencyKey: uuid.NewString() + "-pay", Permit: permit(),
	}
}

func rupees(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "INR"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

func charged(t *testing.T, c *razorpay.Client, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	return o
}
