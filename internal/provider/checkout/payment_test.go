package checkout_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/checkout"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/checkout"
)

// TestOnePaymentHasOneID: answers, lookups by payment and page, and webhooks name the payment by its own id.
func TestOnePaymentHasOneID(t *testing.T) {
	t.Parallel()
	const page, session = "hpp_0000000000000000000000000", "ps_1"
	var id string
	f := newFake()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hosted-payments/"+page {
			_, _ = w.Write([]byte(`{"id":"` + page + `","status":"Payment Received","payment_id":"` + id + `"}`))
			return
		}
		f.ServeHTTP(w, r)
	}))
	made := charged(t, c, charge(cardOK))
	id = made.ProviderPaymentID
	v, err := hooks.New(webhooks.Config{Secrets: []string{"key"}})
	require.NoError(t, err)
	for _, event := range []string{"payment_approved", "payment_captured", "payment_refunded"} {
		events := v.Read(webhooks.Delivery{Body: []byte(`{"id":"evt_1","type":"` + event + `","data":{"id":"` + id + `","action_id":"act_1","amount":1999,"currency":"EUR"}}`)})
		require.Len(t, events, 1)
		providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: made, Webhook: events[0]})
	}
	inPage, err := c.Lookup(t.Context(), page)
	require.Equal(t, providertest.Named{Payment: id, Container: page}, providertest.ByOutcome(t, inPage, err))

	const paid = `{"id":"pay_1","status":"Captured","amount":1999,"currency":"EUR","processing_channel_id":"pc_1","metadata":{"cko_payment_session_id":"` + session + `"},
		"_links":{"self":{"href":"https://api.sandbox.checkout.com/payments/pay_1"}}}`
	o, err := says(t, http.StatusOK, paid).Lookup(t.Context(), "pay_1")
	require.Equal(t, providertest.Named{Payment: "pay_1", Container: session}, providertest.ByOutcome(t, o, err))
	require.Equal(t, "pc_1", o.Payee)
	require.Equal(t, new(false), o.Live)
	o, err = says(t, http.StatusOK, strings.Replace(paid, "sandbox.", "", 1)).Lookup(t.Context(), "pay_1")
	require.NoError(t, err)
	require.Equal(t, new(true), o.Live)
}

func TestLookup(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]gateway.Outcome{
		"Active": {Event: fsm.EventActionRequired}, "Payment Pending": {Event: fsm.EventActionRequired}, "Ripening": {Event: fsm.EventProcessing},
		"Expired": {Event: fsm.EventFailed, Failure: payment.NewFailure("expired", "")},
	} {
		want.Container, want.References = "pl_1", []string{"pl_1"}
		got, err := says(t, http.StatusOK, `{"id":"pl_1","status":"`+status+`"}`).Lookup(t.Context(), "pl_1")
		require.NoError(t, err)
		require.Equal(t, want, got, status)
	}
	c, seen := serve(t, newFake())
	_, err := c.Lookup(t.Context(), "ps_1")
	require.ErrorIs(t, err, gateway.ErrByReference)
	require.ErrorIs(t, err, gateway.ErrInconclusive)
	for _, cl := range []gateway.Cancel{{Container: "pl_1"}, {Container: "ps_1", Elsewhere: true, Quiet: 48 * time.Hour}} {
		_, err = c.Cancel(t.Context(), cl)
		require.ErrorIs(t, err, gateway.ErrUnsupported, cl.Container)
	}
	require.Empty(t, seen)
}

func TestFind(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, _ := serve(t, f.handler(f))
	ch := charge(cardDeclined)
	charged(t, c, ch)
	ch.Token, ch.IdempotencyKey = cardOK, "0123-again"
	paid := charged(t, c, ch)
	ch.Token, ch.IdempotencyKey = cardDeclined, "0123-once-more"
	charged(t, c, ch)
	found, err := c.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, paid.ProviderPaymentID, found.ProviderPaymentID)
}

func TestPayees(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"pc_1"}, checkout.Adapter().Payees(map[string]string{"processing_channel_id": "pc_1"}))
	require.Empty(t, checkout.Adapter().Payees(nil))
}
