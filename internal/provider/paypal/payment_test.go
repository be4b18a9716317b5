package paypal_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/paypal"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
)

// hooked returns the webhook of an object in the fake.
func hooked(t *testing.T, event string, of object) webhooks.Event {
	t.Helper()
	raw, err := json.Marshal(of)
	require.NoError(t, err)
	return webhook(t, event, string(raw))
}

// TestOnePaymentHasOneID: answers, lookups and webhooks name a payment by the capture's or the authorization's id, and
// name its order.
func TestOnePaymentHasOneID(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	paid := charged(t, c, charge("card:1"))
	captured := hooked(t, "PAYMENT.CAPTURE.COMPLETED", f.captured(paid.ProviderPaymentID).render())
	providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: paid, Webhook: captured})
	require.Equal(t, shop, captured.Payee)
	require.Equal(t, shop, paid.Payee)

	held := charged(t, c, manual(charge("card:1")))
	id, in := held.ProviderPaymentID, held.Container
	providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: held, Webhook: hooked(t, "PAYMENT.AUTHORIZATION.CREATED", f.authorization(id).render())})
	taken, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: id, Container: in, Money: euro(1999), IdempotencyKey: "k", Permit: permit()})
	sources := map[string]providertest.Named{"capture": providertest.ByOutcome(t, taken, err)}
	for event, of := range map[string]object{
		"PAYMENT.CAPTURE.COMPLETED": f.captured(taken.Movements[0].ID).render(), "CHECKOUT.ORDER.COMPLETED": f.orders[in].render(),
	} {
		sources[event] = providertest.ByEvents(t, []webhooks.Event{hooked(t, event, of)}, nil)
	}
	now, err := c.Lookup(t.Context(), taken.Movements[0].ID)
	sources["lookup of the capture"] = providertest.ByOutcome(t, now, err)
	providertest.OnePayment(t, providertest.Named{Payment: id, Container: in}, sources)
}

// TestLookup: the payments of an order are distinct, and each names its payee.
func TestLookup(t *testing.T) {
	t.Parallel()
	const order = `{"id":"O1","status":"COMPLETED","purchase_units":[
		{"custom_id":"att_1","payee":{"merchant_id":"M1"},"payments":{"captures":[{"id":"C1","status":"DECLINED"}]}},
		{"custom_id":"att_1","payee":{"email_address":"x@evil.example"},"payments":{"captures":[{"id":"C2","status":"COMPLETED","amount":{"currency_code":"EUR","value":"19.99"}}]}}]}`
	c := says(t, 200, order)
	got, err := c.Lookup(t.Context(), "O1")
	require.NoError(t, err)
	require.Equal(t, "C2", got.ProviderPaymentID, "it has come furthest")
	require.Equal(t, "x@evil.example", got.Payee)
	require.NotContains(t, got.References, "C1", "it is another payment")
	declined, err := c.Lookup(t.Context(), "C1") // the client remembers its order
	require.NoError(t, err)
	require.Equal(t, "C1", declined.ProviderPaymentID)
	require.Equal(t, "M1", declined.Payee)

	open, err := says(t, 200, `{"id":"O1","status":"APPROVED","purchase_units":[{"payee":{"merchant_id":"M1"}},{"payee":{"merchant_id":"M2"}}]}`).Lookup(t.Context(), "O1")
	require.NoError(t, err)
	require.Equal(t, providertest.Named{Container: "O1"}, providertest.ByOutcome(t, open, nil))
	require.Equal(t, "M1,M2", open.Payee)
}

func TestPayees(t *testing.T) {
	t.Parallel()
	payees := paypal.Adapter().Payees
	require.Equal(t, []string{"M1", "shop@shop.example"}, payees(map[string]string{"merchant_id": "M1", "payee_email": "shop@shop.example"}))
	require.Empty(t, payees(nil))
}
