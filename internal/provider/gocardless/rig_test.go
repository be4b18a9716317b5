package gocardless_test

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

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/gocardless"
	"github.com/paylatch/paylatch/internal/provider/gocardless/gocardlesstest"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

func suite() providertest.Suite {
	return providertest.Suite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Provider {
			return gocardless.New(base, "token", c)
		},
		Fake: func(t *testing.T) http.Handler {
			t.Helper()
			return gocardlesstest.New()
		},
		Customer: func(t *testing.T, on http.Handler, id, _ string) {
			t.Helper()
			f, ok := on.(*gocardlesstest.Fake)
			require.True(t, ok)
			f.Authorise(id)
		},
		Tokens:    providertest.Tokens{Success: "sepa_instant_credit_transfer", Redirect: "redirect", None: "MD0DEAD"},
		Stored:    providertest.Stored{Token: gocardlesstest.Mandate, Owner: gocardlesstest.Owner, Forms: []string{"MD000ABC123"}},
		NoPayment: gocardlesstest.MissingID,
		NoRefund:  "RF0NONE",
		// The number of pages does not matter. charge_test.go tests faults of the request for a page.
		Aside: func(r providertest.Request) bool { return r.Path == "/billing_request_flows" },
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

// This runs the suite with the id of a billing request in the place of a payment's id. A billing request takes no money.
func TestConformanceOfBillingRequests(t *testing.T) {
	t.Parallel()
	s := suite()
	s.NoPayment = "BRQ0NONE"
	providertest.Run(t, s)
}

type sent struct {
	line string
	key  string
	body map[string]json.RawMessage
}

// serve returns a client of this server, and the commands that the server received.
func serve(t *testing.T, h http.Handler) (*gocardless.Client, <-chan sent) {
	t.Helper()
	h = providertest.Recorded(t, h)
	got := make(chan sent, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodGet {
			one := sent{line: r.Method + " " + r.URL.Path, key: r.Header.Get("Idempotency-Key")}
			var body map[string]json.RawMessage
			_ = json.Unmarshal(raw, &body)
			for _, inner := range body {
				_ = json.Unmarshal(inner, &one.body)
			}
			got <- one
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return gocardless.New(s.URL, "token", s.Client()), got
}

// losing executes the requests to a path and drops the answers. Other requests are answered.
func losing(fake http.Handler, line string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method+" "+r.URL.Path == line {
			fake.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		fake.ServeHTTP(w, r)
	})
}

func charge(token string) gateway.Charge {
	id := payment.AttemptID(uuid.Must(uuid.NewV7()))
	return gateway.Charge{
		Details: gateway.Details{Token: token, Stored: token == gocardlesstest.Mandate, Customer: gateway.Customer{Reference: gocardlesstest.Owner}, ReturnURL: "https://shop.example/back"},
		Attempt: id, Order: "A-1", Money: euros(1999), Capture: payment.CaptureAutomatic, IdempotencyKey: id.String() + "-charge-0", Permit: permit(),
	}
}

func euros(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "EUR"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

func charged(t *testing.T, c *gocardless.Client, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	return o
}

func cancelOf(id string) gateway.Cancel {
	return gateway.Cancel{ProviderPaymentID: id, IdempotencyKey: "c", Permit: permit()}
}

func closeOf(container string) gateway.Cancel {
	return gateway.Cancel{Container: container, IdempotencyKey: "c", Permit: permit()}
}

func refundOf(id string, minor int64) gateway.RefundCall {
	refund := uuid.Must(uuid.NewV7())
	return gateway.RefundCall{
		Refund: payment.RefundID(refund), ProviderPaymentID: id, Money: euros(minor), Left: euros(1999), IdempotencyKey: refund.String(), Permit: permit(),
	}
}

// endsAfterOne returns a permit that allows one request.
func endsAfterOne() gateway.Permit {
	start, asked := time.Now(), 0
	return gateway.NewPermit(start, time.Minute, func() time.Time {
		if asked++; asked > 1 {
			return start.Add(time.Hour)
		}
		return start
	})
}
