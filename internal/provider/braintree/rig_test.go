package braintree_test

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
	"github.com/paylatch/paylatch/internal/provider/braintree"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(base string, c *http.Client) *braintree.Client {
	made := braintree.New(base, merchant, public, private, c)
	made.Currency = "EUR"
	return made
}

func suite() providertest.Suite {
	return providertest.Suite{
		New:       func(_ *testing.T, base string, c *http.Client) gateway.Provider { return client(base, c) },
		Fake:      newFake,
		Tokens:    providertest.Tokens{Success: good, Decline: declined, None: unknown},
		Stored:    providertest.Stored{Token: vaulted, Owner: owner},
		Declined:  fsm.EventFailed,
		NoPayment: "nosuch00", NoRefund: "nosuch01",
		Absent: braintree.Adapter().Absent,
		Key: func(r providertest.Request) string {
			var in changed
			_ = json.Unmarshal(r.Body, &in)
			return in.Transaction.Key
		},
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

// This runs the suite for a merchant whose requests may not have a key: nothing is sent twice.
func TestConformanceWithoutKeys(t *testing.T) {
	t.Parallel()
	s := suite()
	s.New = func(_ *testing.T, base string, c *http.Client) gateway.Provider {
		made := client(base, c)
		made.Keyless = true
		return made
	}
	s.Fake = func(*testing.T) http.Handler {
		f := serving()
		f.keyless = true
		return f
	}
	providertest.Run(t, s)
}

// serve returns a client of this server, and the server's requests.
func serve(t *testing.T, h http.Handler) (*braintree.Client, <-chan seen) {
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
	return client(s.URL+"/", s.Client()), got
}

type seen struct{ line, body string }

const base = "/merchants/" + merchant

// answers returns a client of a server that gives every request the same answer.
func answers(t *testing.T, status int, body string) *braintree.Client {
	t.Helper()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Authentication", "basic_auth")
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
		Details: gateway.Details{Token: token, ReturnURL: "https://shop.example/back"},
		Attempt: payment.AttemptID(uuid.Must(uuid.NewV7())), Order: "A-1", Money: euro(1999), Capture: payment.CaptureAutomatic,
		IdempotencyKey: uuid.NewString() + "-charge-0", Permit: permit(),
	}
}

func euro(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "EUR"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

func charged(t *testing.T, c *braintree.Client, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	return o
}

func held(t *testing.T, c *braintree.Client) gateway.Outcome {
	t.Helper()
	ch := charge(good)
	ch.Capture = payment.CaptureManual
	return charged(t, c, ch)
}

// lines returns the lines of the requests so far.
func lines(got <-chan seen) (all []string) {
	for len(got) > 0 {
		all = append(all, (<-got).line)
	}
	return all
}

// intercepted answers a search with the result of own, unless it is empty. The fake answers all other requests.
func intercepted(f http.Handler, own func(searched) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(raw))
		var in searched
		if _ = json.Unmarshal(raw, &in); own(in) != "" {
			_, _ = io.WriteString(w, own(in))
			return
		}
		f.ServeHTTP(w, r)
	})
}
