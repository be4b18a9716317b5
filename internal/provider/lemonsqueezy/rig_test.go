package lemonsqueezy_test

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

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/lemonsqueezy"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func store() lemonsqueezy.Store {
	return lemonsqueezy.Store{ID: storeID, Variant: variant, Currency: "EUR"}
}

func of(t *testing.T, h http.Handler) *fake {
	t.Helper()
	f, ok := h.(*fake)
	require.True(t, ok)
	return f
}

func suite() providertest.Suite {
	return providertest.Suite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Provider {
			return lemonsqueezy.New(base, key, store(), c, time.Now)
		},
		Fake:     func(*testing.T) http.Handler { return newFake() },
		Tokens:   providertest.Tokens{Success: "redirect"},
		Stored:   providertest.Stored{Forms: []string{"pm_1", "checkout"}},
		Abandons: true,
		Customer: func(t *testing.T, on http.Handler, id, _ string) {
			t.Helper()
			of(t, on).pay(id)
		},
		Order: func(t *testing.T, on http.Handler, id string) string {
			t.Helper()
			return of(t, on).ordered(t, id)
		},
		NoPayment: "ac470bd4-7c41-474d-b6cd-999999999999",
		Absent:    lemonsqueezy.Adapter().Absent,
	}
}

// Lemon Squeezy publishes no OpenAPI description, so the fake accepts only the documented members.
func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

func TestCarries(t *testing.T) {
	t.Parallel()
	providertest.Carries(t, suite(), lemonsqueezy.Adapter(), func(c *gateway.Charge) { c.Token = "redirect" })
}

type seen struct{ line, body string }

// serve returns a client of this server, and the server's requests.
func serve(t *testing.T, h http.Handler, sells lemonsqueezy.Store) (*lemonsqueezy.Client, <-chan seen) {
	t.Helper()
	h = providertest.Recorded(t, h)
	got := make(chan seen, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		got <- seen{r.Method + " " + r.URL.Path, string(raw)}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return lemonsqueezy.New(s.URL+"/", key, sells, s.Client(), func() time.Time { return day }), got
}

var day = time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)

// losing executes requests with this line, and drops the answers.
func losing(h http.Handler, line string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method+" "+r.URL.Path != line {
			h.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
}

// lines returns the lines of the requests so far.
func lines(got <-chan seen) (all []string) {
	for len(got) > 0 {
		all = append(all, (<-got).line)
	}
	return all
}

func charge() gateway.Charge {
	return gateway.Charge{
		Details: gateway.Details{Token: "redirect"}, Attempt: payment.AttemptID(uuid.Must(uuid.NewV7())), Order: "A-1", Money: euro(1999),
		Capture: payment.CaptureAutomatic, IdempotencyKey: "k-charge-0", Permit: permit(),
	}
}

func euro(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "EUR"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

// paidFor returns a checkout, and the order with which its customer has paid.
func paidFor(t *testing.T, c *lemonsqueezy.Client, f *fake) (checkout string, made *order) {
	t.Helper()
	o, err := c.Charge(t.Context(), charge())
	require.NoError(t, err)
	return o.Container, f.pay(o.Container)
}

func refundOf(id string, minor, left int64) gateway.RefundCall {
	return gateway.RefundCall{
		Refund: payment.RefundID(uuid.Must(uuid.NewV7())), ProviderPaymentID: id, Money: euro(minor), Left: euro(left),
		IdempotencyKey: "k-refund-0", Permit: permit(),
	}
}
