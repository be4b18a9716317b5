package robokassa_test

import (
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
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/robokassa"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func shop() robokassa.Shop {
	return robokassa.Shop{Login: shopLogin, Password1: password1, Password2: password2, Password3: password3}
}

func client(t *testing.T, base string, of robokassa.Shop, c *http.Client) *robokassa.Client {
	t.Helper()
	made, err := robokassa.New(base, of, c)
	require.NoError(t, err)
	return made
}

func suite() providertest.Suite {
	return providertest.Suite{
		New: func(t *testing.T, base string, c *http.Client) gateway.Provider {
			t.Helper()
			of := shop()
			of.Currency = "EUR"
			return client(t, base, of, c)
		},
		Fake: func(t *testing.T) http.Handler {
			t.Helper()
			return newFake(t)
		},
		Customer: func(t *testing.T, on http.Handler, id, _ string) {
			t.Helper()
			f, ok := on.(*fake)
			require.True(t, ok)
			f.pay(id)
		},
		Tokens:     providertest.Tokens{Success: "redirect"},
		Stored:     providertest.Stored{Forms: []string{saved}},
		Links:      true,
		Unmarked:   true,
		NoCurrency: true,
		NoPayment:  "9000000000000000000",
		Absent:     robokassa.Adapter().Absent,
		NoRefund:   "5d0b2a4e-0000-4000-8000-999999999999",
	}
}

// saved has the form of the key of a paid operation.
const saved = "9A3D1B0C-6F1E-4F57-8C6A-1B7D0E2F3A4C-Q1w2E3r4T5"

// Robokassa publishes no description of its API, so the fake follows the documentation.
func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

func TestCarries(t *testing.T) {
	t.Parallel()
	providertest.Carries(t, suite(), robokassa.Adapter(),
		func(c *gateway.Charge) { c.Token, c.Customer.Locale = "redirect", "en-GB" },
	)
}

// opened returns a client of a fake.
func opened(t *testing.T) (*robokassa.Client, *fake) {
	t.Helper()
	f := newFake(t)
	s := httptest.NewServer(providertest.Recorded(t, f))
	t.Cleanup(s.Close)
	return client(t, s.URL+"/", shop(), s.Client()), f
}

// says gives every request the same answer.
func says(t *testing.T, body string) *robokassa.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return client(t, s.URL, shop(), s.Client())
}

func charge(token string) gateway.Charge {
	return gateway.Charge{
		Details: gateway.Details{Token: token, ReturnURL: "https://shop.example/back?a=1&b=2"},
		Attempt: payment.AttemptID(uuid.Must(uuid.NewV7())), Order: "A-1", Money: rub(1999), Capture: payment.CaptureAutomatic,
		IdempotencyKey: uuid.NewString() + "-pay", Permit: permit(),
	}
}

func rub(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "RUB"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

// visited returns a charge whose link was opened.
func visited(t *testing.T, c *robokassa.Client, f *fake, ch gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	require.Equal(t, payment.ActionRedirect, o.NextAction.Type)
	page := httptest.NewRecorder()
	f.ServeHTTP(page, httptest.NewRequestWithContext(t.Context(), http.MethodGet, o.NextAction.URL, nil))
	require.Equal(t, http.StatusOK, page.Code)
	return o
}
