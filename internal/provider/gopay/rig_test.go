package gopay_test

import (
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
	"github.com/paylatch/paylatch/internal/provider/gopay"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func suite() providertest.Suite {
	return providertest.Suite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Provider {
			made := gopay.New(base, "id", "secret", goid, c, time.Now)
			made.Notify = "https://paylatch.example/hooks/gopay"
			return made
		},
		Fake: func(t *testing.T) http.Handler {
			t.Helper()
			return newGate(t)
		},
		Customer: func(t *testing.T, on http.Handler, id, _ string) {
			t.Helper()
			g, ok := on.(*gate)
			require.True(t, ok)
			g.pay(id)
		},
		Tokens:          providertest.Tokens{Success: "PAYMENT_CARD", Decline: emptyCard, Redirect: "redirect", None: "NO_SUCH_INSTRUMENT"},
		Stored:          providertest.Stored{Token: savedCard, Owner: savedFor},
		Declined:        fsm.EventFailed,
		CancelsOnlyHeld: true,
		Unmarked:        true,
		NoPayment:       "3999999999",
		Absent:          gopay.Adapter().Absent,
		NoRefund:        "4999999999",
		Aside:           func(r providertest.Request) bool { return strings.HasSuffix(r.Path, "/oauth2/token") },
	}
}

// GoPay publishes no OpenAPI description, so the fake follows the documentation.
func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

func TestCarries(t *testing.T) {
	t.Parallel()
	providertest.Carries(t, suite(), gopay.Adapter(),
		func(c *gateway.Charge) { c.Token, c.Save = "redirect", true },
	)
}

// opened returns a client of a fake.
func opened(t *testing.T) (*gopay.Client, *gate) {
	t.Helper()
	g := newGate(t)
	s := httptest.NewServer(providertest.Recorded(t, g))
	t.Cleanup(s.Close)
	c := gopay.New(s.URL, "id", "secret", goid, s.Client(), time.Now)
	c.Notify = "https://paylatch.example/hooks/gopay"
	return c, g
}

// says gives all requests except those for tokens the same answer.
func says(t *testing.T, status int, body string) *gopay.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/oauth2/token") {
			_, _ = io.WriteString(w, `{"access_token":"t","expires_in":1800}`)
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return gopay.New(s.URL, "id", "secret", goid, s.Client(), time.Now)
}

func charge(token string) gateway.Charge {
	return gateway.Charge{
		Details: gateway.Details{
			Token: token, Stored: token == savedCard || token == emptyCard || token == stoppedCard, ReturnURL: "https://shop.example/back",
			Customer: gateway.Customer{Reference: savedFor, Email: "jane@shop.example", Name: "Jane van Dyke"},
		},
		Attempt: payment.AttemptID(uuid.Must(uuid.NewV7())), Order: "A-1", Money: czk(1999), Capture: payment.CaptureAutomatic, Permit: permit(),
	}
}

func czk(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "CZK"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

func charged(t *testing.T, c *gopay.Client, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	return o
}

// overtaking returns a client of a fake that calls happens with each refund.
func overtaking(t *testing.T, g *gate, happens func()) *gopay.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/refund") {
			happens()
		}
		g.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return gopay.New(s.URL, "id", "secret", goid, s.Client(), time.Now)
}
