package comgate_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/comgate"
	"github.com/paylatch/paylatch/internal/provider/comgate/comgatetest"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func suite() providertest.Suite {
	return providertest.Suite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Provider {
			client := comgate.New(base, comgatetest.Merchant, comgatetest.Secret, c)
			client.AwaitsCustomer = time.Hour
			return client
		},
		Fake: func(t *testing.T) http.Handler {
			t.Helper()
			return comgatetest.New()
		},
		Customer: func(t *testing.T, on http.Handler, id, _ string) {
			t.Helper()
			f, ok := on.(*comgatetest.Fake)
			require.True(t, ok)
			f.Pay(id)
		},
		Tokens:    providertest.Tokens{Success: "CARD_ALL", Redirect: "redirect", None: "NO_SUCH"},
		Stored:    providertest.Stored{Token: comgatetest.Initial, Owner: comgatetest.Owner, Forms: []string{"AB12-EF34-IJ56"}},
		NoPayment: "NONE-0000-0000",
		Absent:    comgate.Adapter().Absent,
		Keyless:   func(r providertest.Request) bool { return r.Path != "/v1.0/status" },
	}
}

// Comgate publishes no OpenAPI description, so the fake accepts only the documented parameters.
func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

type sent struct {
	path string
	form url.Values
}

// serve returns a client of this server, and the server's requests.
func serve(t *testing.T, h http.Handler) (*comgate.Client, <-chan sent) {
	t.Helper()
	h = providertest.Recorded(t, h)
	got := make(chan sent, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		form, err := url.ParseQuery(string(raw))
		if err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		got <- sent{r.URL.Path, form}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return comgate.New(s.URL, comgatetest.Merchant, comgatetest.Secret, s.Client()), got
}

// losing executes the requests to some paths and drops the answers. Other requests are answered.
func losing(fake http.Handler, paths ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, path := range paths {
			if r.URL.Path == path {
				fake.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			}
		}
		fake.ServeHTTP(w, r)
	})
}

func charge(token string) gateway.Charge {
	id := payment.AttemptID(uuid.Must(uuid.NewV7()))
	return gateway.Charge{
		Details: gateway.Details{Token: token, Stored: token == comgatetest.Initial, Customer: gateway.Customer{Reference: comgatetest.Owner, Email: "a@shop.example"}, ReturnURL: "https://shop.example/back"},
		Attempt: id, Order: "A-1", Money: czk(1999), Capture: payment.CaptureAutomatic, IdempotencyKey: id.String() + "-charge-0", Permit: permit(),
	}
}

func czk(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "CZK"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

func charged(t *testing.T, c *comgate.Client, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	return o
}

// held returns a payment that its customer has authorised.
func held(t *testing.T, c *comgate.Client, f *comgatetest.Fake) string {
	t.Helper()
	ch := charge("redirect")
	ch.Capture = payment.CaptureManual
	id := charged(t, c, ch).ProviderPaymentID
	f.Pay(id)
	return id
}

func refundOf(id string, minor int64) gateway.RefundCall {
	return gateway.RefundCall{
		Refund: payment.RefundID(uuid.Must(uuid.NewV7())), ProviderPaymentID: id, Money: czk(minor), Left: czk(1999), IdempotencyKey: "k", Permit: permit(),
	}
}

func captureOf(id string) gateway.Capture {
	return gateway.Capture{ProviderPaymentID: id, Money: czk(1999), Whole: true, IdempotencyKey: "k", Permit: permit()}
}

func cancelOf(id string) gateway.Cancel {
	return gateway.Cancel{ProviderPaymentID: id, IdempotencyKey: "k", Permit: permit()}
}
