package mollie_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/mollie"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/mollie"
)

func onePayment(id, status, more string) string {
	return `{"resource":"payment","id":"` + id + `","mode":"live","profileId":"pfl_1","status":"` + status + `","amount":{"value":"19.99","currency":"EUR"}` + more + `}`
}

// holding returns a client of a server with a payment link and an order. Each has two payments, the newest first; the
// second payment was declined.
func holding(t *testing.T) *mollie.Client {
	t.Helper()
	answers := map[string]string{
		"/payment-links/pl_1/payments": `{"_embedded":{"payments":[` + onePayment("tr_2", "failed", "") + `,` + onePayment("tr_1", "paid", "") + `]},"_links":{}}`,
		"/orders/ord_1":                `{"_embedded":{"payments":[` + onePayment("tr_4", "expired", "") + `,` + onePayment("tr_3", "authorized", "") + `]}}`,
		"/payment-links/pl_0/payments": `{"_embedded":{"payments":[]},"_links":{}}`,
		"/orders/ord_0":                `{}`,
		"/payments/tr_1":               onePayment("tr_1", "paid", ""),
		"/payments/tr_3":               onePayment("tr_3", "authorized", `,"orderId":"ord_1"`),
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, there := answers[strings.TrimPrefix(r.URL.Path, "/v2")]
		if !there {
			w.WriteHeader(http.StatusNotFound)
			answer = `{"status":404,"title":"Not Found","detail":"No such object"}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return mollie.New(s.URL, key, hook, s.Client())
}

// The most advanced payment of a container is the outcome, named by its own id.
func TestLookup_of_a_container(t *testing.T) {
	t.Parallel()
	c := holding(t)
	for container, want := range map[string]struct {
		payment string
		news    fsm.Event
	}{
		"pl_1": {"tr_1", fsm.EventSucceeded}, "ord_1": {"tr_3", fsm.EventAuthorized},
		"pl_0": {"", fsm.EventActionRequired}, "ord_0": {"", fsm.EventActionRequired},
	} {
		o, err := c.Lookup(t.Context(), container)
		require.NoError(t, err, container)
		require.Equal(t, []string{want.payment, container}, []string{o.ProviderPaymentID, o.Container})
		require.Equal(t, want.news, o.Event, container)
		require.Contains(t, o.References, container)
	}
	_, err := c.Cancel(t.Context(), gateway.Cancel{Container: "pl_1", Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupported)
	for _, none := range []string{"pl_9", "ord_9"} {
		_, err := c.Lookup(t.Context(), none)
		require.ErrorIs(t, err, gateway.ErrNoSuchPayment, none)
	}
}

// TestOnePayment: Mollie names a payment by its own id, beginning with the answer to its creation, also in a link and in
// an order.
func TestOnePayment(t *testing.T) {
	t.Parallel()
	c := holding(t)
	v, err := hooks.New(webhooks.Config{Secrets: []string{"secret"}})
	require.NoError(t, err)
	event := func(id string) webhooks.Event {
		body := `{"resource":"event","id":"event_1","type":"payment.authorized","entityId":"` + id + `","_embedded":{"entity":` + onePayment(id, "authorized", "") + `}}`
		return v.Read(webhooks.Delivery{Body: []byte(body)})[0]
	}
	for container, id := range map[string]string{"pl_1": "tr_1", "ord_1": "tr_3"} {
		reported := gateway.Outcome{Event: fsm.EventActionRequired, Container: container, References: []string{container}}
		providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: reported, Webhook: event(id)})
	}
	direct, err := c.Lookup(t.Context(), "tr_1")
	require.NoError(t, err)
	require.Equal(t, "pfl_1", direct.Payee)
	require.True(t, *direct.Live)
	providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: direct, Webhook: event("tr_1")})
	f, _ := serve(t, newFake(t))
	made := charged(t, f, charge("redirect"))
	providertest.NamedAlike(t, providertest.Paid{Provider: f, Charged: made, Webhook: v.Read(webhooks.Delivery{Body: []byte("id=" + made.ProviderPaymentID)})[0]})
}
