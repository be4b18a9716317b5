package checkout_test

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
	"github.com/paylatch/paylatch/internal/provider/checkout"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const document = "checkoutcom-nas.json"

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

func suite() providertest.Suite {
	return providertest.Suite{
		Absent: checkout.Adapter().Absent,
		New:    func(_ *testing.T, base string, c *http.Client) gateway.Provider { return checkout.New(base, secret, c) },
		Fake: func(t *testing.T) http.Handler {
			t.Helper()
			return described(t)
		},
		Tokens:          providertest.Tokens{Success: cardOK, Decline: cardDeclined, Redirect: cardRedirect, None: cardNone},
		Charges:         []string{cardRedirect},
		Stored:          providertest.Stored{Token: instrument, Owner: instrumentOf, Forms: []string{instrumentOf}},
		Declined:        fsm.EventFailed,
		Settles:         true,
		CancelsOnlyHeld: true,
		NoPayment:       "pay_nobody00000000000000000000",
		NoRefund:        "act_nobody00000000000000000000",
		Key:             func(r providertest.Request) string { return r.Header.Get("Cko-Idempotency-Key") },
	}
}

// described returns the fake, with every request checked against Checkout.com's own description.
func described(t *testing.T) http.Handler {
	t.Helper()
	f := newFake()
	h := providertest.Described(t, document, "", f)
	return f.handler(h)
}

type request struct {
	line   string
	header http.Header
	body   string
}

// serve returns a client of this server, and the server's requests.
func serve(t *testing.T, h http.Handler) (*checkout.Client, <-chan request) {
	t.Helper()
	h = providertest.Recorded(t, h)
	seen := make(chan request, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		seen <- request{r.Method + " " + r.RequestURI, r.Header.Clone(), string(raw)}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return checkout.New(s.URL+"/", secret, s.Client()), seen
}

// says gives every request the same answer as Checkout.com does, except that there are no disputes and no refunds.
func says(t *testing.T, status int, body string) *checkout.Client {
	t.Helper()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cko-Request-Id", "b7f8a4a1")
		switch {
		case r.URL.Path == "/disputes":
			_, _ = io.WriteString(w, `{"data":[]}`)
			return
		case strings.HasSuffix(r.URL.Path, "/actions") && strings.Contains(body, "efunded"):
			_, _ = io.WriteString(w, `[]`)
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	return c
}

func charge(token string) gateway.Charge {
	return gateway.Charge{
		Details: gateway.Details{Customer: gateway.Customer{Reference: instrumentOf}, Token: token, Stored: strings.HasPrefix(token, "src_"), ReturnURL: "https://shop.example/back"},
		Attempt: payment.AttemptID(uuid.New()), Order: "A-1", Money: euro(1999), Capture: payment.CaptureAutomatic,
		IdempotencyKey: "0123-pay", Permit: permit(),
	}
}

func euro(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "EUR"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

func charged(t *testing.T, c *checkout.Client, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	return o
}

func unknown(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

const instrument, instrumentOf = "src_wmlfc3zyhqzehihu7giusaaawu", "cus_y3oqhf46pyzuxjbcn2giaqnb44"
