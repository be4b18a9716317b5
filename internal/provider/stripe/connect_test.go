package stripe_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/stripe"
	"github.com/paylatch/paylatch/webhooks"
)

const connected = "acct_1032D82eZvKYlo2C"

// direct returns the settings of a platform's key and its connected account.
func direct(base string, c *http.Client) kit.Settings {
	return kit.Settings{BaseURL: base, Client: c, Params: map[string]string{"api_key": secret, "account": connected, "connect": "direct"}}
}

// ofConnected returns the client of the connected account, and its fake.
func ofConnected(t *testing.T) (*fake, *stripe.Client) {
	t.Helper()
	f, c := client(t)
	f.connected = connected
	return f, c.Connected(connected)
}

// The suite of all adapters, for a connected account: its fake has nothing in the platform's own account.
func TestConformanceOfDirectCharges(t *testing.T) {
	t.Parallel()
	s := suite()
	s.New = func(t *testing.T, base string, c *http.Client) gateway.Provider {
		t.Helper()
		p, err := stripe.Adapter().New(direct(base, c))
		require.NoError(t, err)
		return p
	}
	s.Fake = func(t *testing.T) http.Handler {
		t.Helper()
		f, _ := newFake(t).(*fake)
		f.connected = connected
		return f
	}
	providertest.Run(t, s)
}

// Each call of an account with `connect: direct` names the connected account: commands, lookups, books, events and payouts.
func TestEachCallNamesTheConnectedAccount(t *testing.T) {
	t.Parallel()
	for name, header := range map[string][]string{"direct": {connected}, "": nil} {
		t.Run("connect "+name, func(t *testing.T) {
			t.Parallel()
			f, _ := newFake(t).(*fake)
			if name != "" {
				f.connected = connected
			}
			f.keepBooks(sold())
			srv, seen := listen(t, f)
			s := direct(srv.URL, srv.Client())
			s.Params["connect"] = name
			p, err := stripe.Adapter().New(s)
			require.NoError(t, err)
			books, err := stripe.Adapter().Books(s)
			require.NoError(t, err)
			events, err := stripe.Adapter().Events(s)
			require.NoError(t, err)
			everyCall(t, f, p, books, events)
			close(seen)
			lines := map[string]bool{}
			for r := range seen {
				path, _, _ := strings.Cut(r.line, "?")
				lines[path] = true
				require.Equal(t, header, r.header["Stripe-Account"], r.line)
			}
			for _, line := range []string{
				"POST /v1/payment_intents", "POST /v1/refunds", "GET /v1/refunds", "GET /v1/disputes", "GET /v1/payment_intents/search",
				"GET /v1/balance_transactions", "GET /v1/payouts", "GET /v1/events", "GET /v1/payment_methods/" + storedCard,
			} {
				require.True(t, lines[line], "%s of %v", line, lines)
			}
		})
	}
}

func everyCall(t *testing.T, f *fake, p gateway.Provider, books gateway.Books, events gateway.EventLog) {
	t.Helper()
	ch := charge("pm_card_visa")
	ch.ProviderData = map[string]json.RawMessage{"application_fee_amount": json.RawMessage(`123`)}
	paid, err := p.Charge(t.Context(), ch)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, paid.Event)
	f.intents[paid.ProviderPaymentID].disputes = []object{disputed("needs_response")}
	_, err = p.Refund(t.Context(), gateway.RefundCall{
		Refund: payment.RefundID(uuid.New()), Attempt: ch.Attempt, ProviderPaymentID: paid.ProviderPaymentID, Money: payment.Money{Minor: 5, Currency: "EUR"},
		IdempotencyKey: "1-refund", Permit: permit(),
	})
	require.NoError(t, err)
	now, err := p.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Len(t, now.Refunds, 1)
	require.Len(t, now.Disputes, 1)
	_, err = p.LookupRefund(t.Context(), gateway.RefundRef{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: paid.ProviderPaymentID})
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	require.NoError(t, p.CheckOwner(t.Context(), storedCard, storedFor))
	span := gateway.Span{From: began, To: began.Add(time.Hour)}
	entries := 0
	require.NoError(t, books.Entries(t.Context(), span, func(gateway.Entry) error { entries++; return nil }))
	require.Positive(t, entries)
	require.NoError(t, events.Events(t.Context(), span, func(gateway.ListedEvent) error { return nil }))
}

// Stripe.js handles the action of a direct charge only with the id of the connected account.
func TestAnActionNamesTheConnectedAccount(t *testing.T) {
	t.Parallel()
	_, c := ofConnected(t)
	o := charged(t, c, charge("pm_card_challenge"))
	require.Equal(t, payment.ActionSDK, o.NextAction.Type)
	require.JSONEq(t, `{"client_secret":"`+o.ProviderPaymentID+`_secret_x","payment_intent":"`+o.ProviderPaymentID+`","stripe_account":"`+connected+`"}`, string(o.NextAction.Data))
	again, err := c.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, o.NextAction, again.NextAction)
}

// A platform without access to the account makes no payment. Its lookup shows nothing, either.
func TestAnAccountThatIsNotConnected(t *testing.T) {
	t.Parallel()
	f, c := ofConnected(t)
	other := c.Connected("acct_2")
	o := charged(t, other, charge("pm_card_visa"))
	require.Equal(t, fsm.EventFailed, o.Event)
	require.True(t, o.Refused)
	require.Empty(t, f.intents)
	paid := charged(t, c, charge("pm_card_visa"))
	_, err := other.Lookup(t.Context(), paid.ProviderPaymentID)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// An event of the platform's endpoint for connected accounts names its account, which is the payee.
func TestAnEventOfAConnectedAccount(t *testing.T) {
	t.Parallel()
	paid := object{"object": "payment_intent", "id": "pi_1", "amount_received": 1999, "currency": "eur"}
	ours, err := json.Marshal(with(event("evt_1", "payment_intent.succeeded", at(0), paid), "account", connected))
	require.NoError(t, err)
	read := verifier(t).Read(webhooks.Delivery{Body: ours})
	require.Len(t, read, 1)
	payees := stripe.Adapter().Payees(direct("", nil).Params)
	require.Contains(t, payees, read[0].Payee)
	require.NotContains(t, payees, "acct_2")
}
