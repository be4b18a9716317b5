package paddle_test

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

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/paddle"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

func suite() providertest.Suite {
	return providertest.Suite{
		Absent:   paddle.Adapter().Absent,
		New:      func(_ *testing.T, base string, c *http.Client) gateway.Provider { return paddle.New(base, key, c) },
		Fake:     newPayments,
		Tokens:   providertest.Tokens{Success: "checkout", Redirect: "redirect"},
		Stored:   providertest.Stored{Forms: []string{"paymtd_01", "ctm_01"}},
		Declined: fsm.EventSoftFailed,
		Abandons: true,
		Customer: func(t *testing.T, fake http.Handler, id, _ string) {
			t.Helper()
			f, ok := fake.(*fakePayments)
			require.True(t, ok)
			f.pay(id)
		},
		NoPayment: "txn_01nobody", NoRefund: "adj_01nobody",
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

func TestCarries(t *testing.T) {
	t.Parallel()
	providertest.Carries(t, suite(), paddle.Adapter(), func(c *gateway.Charge) { c.Token = "redirect" })
}

// serve returns a client of this server, and the server's requests.
func serve(t *testing.T, h http.Handler) (*paddle.Client, <-chan seen) {
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
	return paddle.New(s.URL+"/", key, s.Client()), got
}

type seen struct{ line, body string }

// answers returns a client of a server that gives every request the same answer.
func answers(t *testing.T, status int, body string) *paddle.Client {
	t.Helper()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	return c
}

// losing lets the fake execute requests with this line, and drops the answers.
func losing(f http.Handler, line string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method+" "+r.URL.Path != line {
			f.ServeHTTP(w, r)
			return
		}
		f.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
}

func charge(token string) gateway.Charge {
	return gateway.Charge{
		Details: gateway.Details{Token: token}, Attempt: payment.AttemptID(uuid.Must(uuid.NewV7())), Order: "A-1", Money: euro(1999),
		Capture: payment.CaptureAutomatic, IdempotencyKey: uuid.NewString() + "-charge-0", Permit: permit(),
	}
}

func euro(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "EUR"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

func charged(t *testing.T, c *paddle.Client, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	return o
}

// paidFor returns a payment with these lines that its customer has paid.
func paidFor(t *testing.T, c *paddle.Client, f *fakePayments, amounts ...int64) string {
	t.Helper()
	ch := charge("redirect")
	ch.Money.Minor = 0
	for _, minor := range amounts {
		ch.Lines = append(ch.Lines, gateway.Line{Description: "Ticket", Quantity: "1", UnitAmount: minor, Amount: minor})
		ch.Money.Minor += minor
	}
	id := charged(t, c, ch).ProviderPaymentID
	f.pay(id)
	return id
}

// lines returns the lines of the requests so far.
func lines(got <-chan seen) (all []string) {
	for len(got) > 0 {
		all = append(all, (<-got).line)
	}
	return all
}

func refundOf(id string, minor int64) gateway.RefundCall {
	return gateway.RefundCall{
		Refund: payment.RefundID(uuid.Must(uuid.NewV7())), ProviderPaymentID: id, Money: euro(minor), Left: euro(1999), Reason: "He shouted.",
		IdempotencyKey: "k-refund-0", Permit: permit(),
	}
}

func members(t *testing.T, body string) (all map[string]json.RawMessage) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(body), &all))
	return all
}
