package square_test

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
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/square"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const document = "square-payments.json"

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

func suite() providertest.Suite {
	return providertest.Suite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Provider { return square.New(base, secret, c) },
		Fake: func(t *testing.T) http.Handler {
			t.Helper()
			f := newFake()
			return f.beside(providertest.Described(t, document, "", f))
		},
		Tokens:    providertest.Tokens{Success: cardOK, Decline: cardDeclined, None: cardNone},
		Stored:    providertest.Stored{Token: cardOnFile, Owner: cardHolder},
		Declined:  fsm.EventFailed,
		NoPayment: "p99999999999999999999",
		NoRefund:  "r99999999999999999999",
		Key: func(r providertest.Request) string {
			var body struct {
				Key string `json:"idempotency_key"`
			}
			_ = json.Unmarshal(r.Body, &body)
			return body.Key
		},
		Keyless: func(r providertest.Request) bool {
			return strings.HasSuffix(r.Path, "/complete") || strings.HasSuffix(r.Path, "/cancel")
		},
	}
}

type request struct {
	line   string
	header http.Header
	body   string
}

// serve returns a client of this server, and the server's requests.
func serve(t *testing.T, h http.Handler) (*square.Client, <-chan request) {
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
	return square.New(s.URL+"/", secret, s.Client()), seen
}

// says gives every request the same answer.
func says(t *testing.T, status int, body string) *square.Client {
	t.Helper()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	return c
}

func charge(token string) gateway.Charge {
	return gateway.Charge{
		Details: gateway.Details{Customer: gateway.Customer{Reference: "u-1"}, Token: token, Stored: strings.HasPrefix(token, "ccof:"), ReturnURL: "https://shop.example/back"},
		Attempt: payment.AttemptID(uuid.New()), Order: "A-1", Money: euro(1999), Capture: payment.CaptureAutomatic,
		IdempotencyKey: "0123-pay", Permit: permit(),
	}
}

func manual() gateway.Charge {
	ch := charge(cardOK)
	ch.Capture = payment.CaptureManual
	return ch
}

func euro(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "EUR"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

// licenceFor returns a permit that is valid as long as holds returns true.
func licenceFor(holds func() bool) gateway.Permit {
	start := time.Now()
	return gateway.NewPermit(start, time.Hour, func() time.Time {
		if holds() {
			return start
		}
		return start.Add(2 * time.Hour)
	})
}

func charged(t *testing.T, c *square.Client, ch gateway.Charge) gateway.Outcome {
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
	require.NotContains(t, err.Error(), "Jane")
}

const cardOnFile, cardHolder = "ccof:customer-card-id-ok", "VDKXEEKPJN48QDG3BGGFAK05P8"
