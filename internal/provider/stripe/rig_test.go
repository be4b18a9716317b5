package stripe_test

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
	"github.com/paylatch/paylatch/internal/provider/stripe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

// The second step confirms a payment that waits for its confirmation.
func TestConformanceOfAConfirmation(t *testing.T) {
	t.Parallel()
	s := suite()
	s.Step.Token = "pm_card_manual"
	providertest.Run(t, s)
}

func suite() providertest.Suite {
	return providertest.Suite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Provider { return stripe.New(base, secret, c) },
		Fake: func(t *testing.T) http.Handler {
			t.Helper()
			return newFake(t)
		},
		Tokens: providertest.Tokens{
			Success: "pm_card_visa", Decline: "pm_card_visa_chargeDeclined", Redirect: "pm_card_authenticationRequired",
			None: "pm_nobody",
		},
		Step:    providertest.Step{Token: "pm_card_challenge", Customer: act},
		Charges: []string{"pm_card_authenticationRequired", "pm_card_challenge", "pm_card_manual"},
		Key: func(r providertest.Request) string {
			key := r.Header.Get("Idempotency-Key")
			if strings.HasSuffix(r.Path, "/cancel") {
				return key[:strings.LastIndex(key, "-")] // the rest of the key differs for each call
			}
			return key
		},
		Stored:    providertest.Stored{Token: storedCard, Owner: storedFor, Forms: []string{storedFor, "card_1", "ba_1", "src_1"}},
		Declined:  fsm.EventSoftFailed,
		NoPayment: "pi_3nobody",
		NoRefund:  "re_3nobody",
	}
}

// act agrees as the customer in Stripe.js.
func act(t *testing.T, h http.Handler, id string) json.RawMessage {
	t.Helper()
	f, ok := h.(*fake)
	require.True(t, ok)
	f.acted(id)
	return nil
}

// serve returns a client of this server, and the server's requests.
func serve(t *testing.T, h http.Handler) (*stripe.Client, <-chan request) {
	t.Helper()
	s, seen := listen(t, h)
	return stripe.New(s.URL+"/", secret, s.Client()), seen
}

func listen(t *testing.T, h http.Handler) (*httptest.Server, chan request) {
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
	return s, seen
}

type request struct {
	line   string
	header http.Header
	body   string
}

// says gives every request the same answer.
func says(t *testing.T, status int, body string) *stripe.Client {
	t.Helper()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	return c
}

func charge(token string) gateway.Charge {
	id := payment.AttemptID(uuid.New())
	return gateway.Charge{
		Details: gateway.Details{Token: token, ReturnURL: "https://shop.example/back"},
		Attempt: id, Order: "A-1", Money: payment.Money{Minor: 1999, Currency: "EUR"}, Capture: payment.CaptureAutomatic,
		IdempotencyKey: "0123-pay", Permit: permit(),
	}
}

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

func charged(t *testing.T, c *stripe.Client, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	return o
}

const storedCard, storedFor = "pm_1StoredVisa", "cus_NffrFeUfNV2Hib"
