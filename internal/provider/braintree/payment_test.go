package braintree_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/braintree"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/braintree"
)

// TestOnePaymentHasOneID: answers, lookups and webhooks name a payment by its transaction, and its local payment as its
// container.
func TestOnePaymentHasOneID(t *testing.T) {
	t.Parallel()
	f := serving()
	c, _ := serve(t, f)
	o := held(t, c)
	id := o.ProviderPaymentID
	f.transactions[id].local = "PAY-1AB"
	now, err := c.Lookup(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "PAY-1AB", now.Container)
	sale := `<transaction><id>` + id + `</id><type>sale</type><status>settled</status><amount>19.99</amount><currency-iso-code>EUR</currency-iso-code>` +
		`<merchant-account-id>shop_eur</merchant-account-id></transaction>`
	sources := map[string]providertest.Named{"charge": providertest.ByOutcome(t, o, nil), "lookup": providertest.ByOutcome(t, now, nil)}
	for kind, subject := range map[string]string{
		"transaction_settled": sale, "local_payment_completed": `<local-payment><payment-id>PAY-1AB</payment-id>` + sale + `</local-payment>`,
		"dispute_opened": `<dispute><id>d1</id><amount>1.00</amount><currency-iso-code>EUR</currency-iso-code>` + sale + `</dispute>`,
	} {
		e := hooked(t, kind, subject)
		require.Equal(t, now.Payee, e.Payee)
		sources[kind] = providertest.ByEvents(t, []webhooks.Event{e}, nil)
	}
	providertest.OnePayment(t, providertest.Named{Payment: id, Container: "PAY-1AB"}, sources)
}

// hooked returns the event of a signed notification.
func hooked(t *testing.T, kind, subject string) webhooks.Event {
	t.Helper()
	v, err := hooks.New(webhooks.Config{Secrets: []string{"private"}, Params: map[string]string{"public_key": "public"}})
	require.NoError(t, err)
	d := webhooks.Delivery{Method: http.MethodPost, Body: []byte(`<notification><timestamp type="datetime">2026-03-14T15:09:20Z</timestamp><kind>` + kind +
		`</kind><subject>` + subject + `</subject></notification>`)}
	require.NoError(t, v.Sign(&d))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.Len(t, events, 1)
	return events[0]
}

// TestALocalPaymentIsEndedElsewhere: Braintree has no call that cancels a local payment, and its id is not a
// transaction's id.
func TestALocalPaymentIsEndedElsewhere(t *testing.T) {
	t.Parallel()
	c, got := serve(t, serving())
	_, err := c.Cancel(t.Context(), gateway.Cancel{Container: "PAY-1AB", Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupported)
	_, err = c.Lookup(t.Context(), "PAY-1AB")
	require.ErrorIs(t, err, gateway.ErrInconclusive)
	require.Empty(t, got)
}

func TestPayees(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"shop_eur"}, braintree.Adapter().Payees(map[string]string{"merchant_account_id": "shop_eur"}))
	require.Empty(t, braintree.Adapter().Payees(nil))
}
