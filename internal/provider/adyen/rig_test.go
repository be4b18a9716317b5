package adyen_test

import (
	"bytes"
	"context"
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
	"github.com/paylatch/paylatch/internal/provider/adyen"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const document = "adyen-checkout-v72.json"

// pair is an account with automatic capture and an account with manual capture, because the suite uses both modes.
type pair struct {
	*adyen.Client // manual capture

	atOnce *adyen.Client
}

func (p pair) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if ch.Capture == payment.CaptureManual {
		return p.Client.Charge(ctx, ch)
	}
	return p.atOnce.Charge(ctx, ch)
}

func (p pair) Accepts(ch gateway.Charge) error {
	if ch.Capture == payment.CaptureManual {
		return p.Client.Accepts(ch)
	}
	return p.atOnce.Accepts(ch)
}

func (p pair) Complete(ctx context.Context, cp gateway.Completion) (gateway.Outcome, error) {
	if cp.Capture == payment.CaptureManual {
		return p.Client.Complete(ctx, cp)
	}
	return p.atOnce.Complete(ctx, cp)
}

func client(base, capture string, c *http.Client) *adyen.Client {
	return adyen.New(adyen.Account{Base: base, Key: apiKey, Merchant: merchant, Capture: capture}, c)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	s := suite()
	s.New = func(_ *testing.T, base string, c *http.Client) gateway.Provider {
		return pair{client(base, "", c), client(base, "automatic", c)}
	}
	s.Fake = func(t *testing.T) http.Handler {
		t.Helper()
		h := providertest.Described(t, document, "/v72", newFake())
		return h
	}
	providertest.Run(t, s)
}

// An account with automatic capture has no captures.
func TestConformanceOfAnAccountThatCapturesAtOnce(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

// suite returns the suite of an account with automatic capture.
func suite() providertest.Suite {
	return providertest.Suite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Provider { return client(base, "automatic", c) },
		Fake: func(t *testing.T) http.Handler {
			t.Helper()
			return newFake()
		},
		Tokens: providertest.Tokens{Success: cardOK, Decline: cardRefused, Redirect: methodRedirect, None: cardNone},
		Step: providertest.Step{
			Token: methodChallenge, Again: methodTwice, Details: json.RawMessage(`{"details":{"threeDSResult":"eyJ0"},"paymentData":"Ab02"}`),
		},
		Charges:   []string{methodRedirect, methodChallenge, methodTwice},
		Stored:    stored,
		Declined:  fsm.EventFailed,
		NoPayment: "8800000000000000",
		NoRefund:  "8800000000000001",
	}
}

type request struct {
	line   string
	header http.Header
	body   string
}

// serve returns an address, a client and the server's requests.
func serve(t *testing.T, h http.Handler) (base string, c *http.Client, seen <-chan request) {
	t.Helper()
	h = providertest.Recorded(t, h)
	all := make(chan request, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		all <- request{r.Method + " " + r.RequestURI, r.Header.Clone(), string(raw)}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/", s.Client(), all
}

// says returns an account with automatic capture at a server that gives every request the same answer.
func says(t *testing.T, status int, body string, header ...string) *adyen.Client {
	t.Helper()
	base, c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	return client(base, "automatic", c)
}

func charge(token string) gateway.Charge {
	return gateway.Charge{
		Details: gateway.Details{
			Customer: gateway.Customer{Reference: "u-1"}, Token: token, Stored: token[0] != '{', ReturnURL: "https://shop.example/back",
		},
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

func charged(t *testing.T, c *adyen.Client, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	return o
}

var stored = providertest.Stored{
	Token: "8415698462516992", Owner: "shopper-1",
	Forms: []string{`{"type":"scheme","storedPaymentMethodId":"8415698462516992"}`, `{"type":"scheme","RecurringDetailReference":"8415698462516992"}`},
}
