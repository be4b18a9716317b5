package square_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/square"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/square"
)

// TestOnePaymentHasOneID: answers, lookups by payment and order, and webhooks name the payment by its own id.
func TestOnePaymentHasOneID(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake())
	made := charged(t, c, charge(cardOK))
	v, err := hooks.New(webhooks.Config{Secrets: []string{"key"}, PublicURL: "https://shop.example/hook"})
	require.NoError(t, err)
	for _, status := range []string{"APPROVED", "COMPLETED"} {
		events := v.Read(webhooks.Delivery{Body: fmt.Appendf(nil, `{"event_id":"e1","merchant_id":"MER1","type":"payment.updated","data":{"object":{"payment":{`+
			`"id":%q,"order_id":%q,"status":%q,"amount_money":{"amount":1999,"currency":"EUR"}}}}}`, made.ProviderPaymentID, made.Container, status)})
		require.Len(t, events, 1)
		require.Equal(t, "MER1", events[0].Payee)
		providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: made, Webhook: events[0]})
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	t.Run("order without a payment", func(t *testing.T) {
		t.Parallel()
		c, _ := serve(t, newFake())
		o, err := c.Lookup(t.Context(), openOrder)
		require.NoError(t, err)
		require.Equal(t, gateway.Outcome{Event: fsm.EventActionRequired, Container: openOrder, References: []string{openOrder}}, o)
	})
	t.Run("order that was paid by the second card", func(t *testing.T) {
		t.Parallel()
		f := newFake()
		c, _ := serve(t, f)
		declined := charged(t, c, charge(cardDeclined))
		ch := charge(cardOK)
		ch.IdempotencyKey = "0123-other"
		paid := charged(t, c, ch)
		f.payments[paid.ProviderPaymentID]["order_id"] = declined.Container
		o, err := c.Lookup(t.Context(), declined.Container)
		require.NoError(t, err)
		require.Equal(t, paid.ProviderPaymentID, o.ProviderPaymentID)
		require.Equal(t, fsm.EventSucceeded, o.Event)
	})
	t.Run("order that the key may not read", func(t *testing.T) {
		t.Parallel()
		f := newFake()
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/v2/orders/") {
				refuse(403, "AUTHENTICATION_ERROR", "INSUFFICIENT_SCOPES").write(w)
				return
			}
			f.ServeHTTP(w, r)
		}))
		_, err := c.Lookup(t.Context(), "o-1")
		require.ErrorIs(t, err, gateway.ErrInconclusive, "it may be an order")
	})
	for state, want := range map[string]gateway.Outcome{
		"CANCELED": {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")}, "COMPLETED": {Event: fsm.EventProcessing},
	} {
		t.Run("order "+state, func(t *testing.T) {
			t.Parallel()
			c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/v2/payments/") {
					missing().write(w)
					return
				}
				answer{200, object{"order": object{"id": "o-1", "state": state}}}.write(w)
			}))
			want.Container, want.References = "o-1", []string{"o-1"}
			o, err := c.Lookup(t.Context(), "o-1")
			require.NoError(t, err)
			require.Equal(t, want, o)
		})
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake())
	ch := charge(cardDeclined)
	charged(t, c, ch)
	ch.Token, ch.IdempotencyKey = cardOK, "0123-again"
	paid := charged(t, c, ch)
	found, err := c.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, paid.ProviderPaymentID, found.ProviderPaymentID)
}

func TestPayees(t *testing.T) {
	t.Parallel()
	payees := square.Adapter().Payees
	require.Equal(t, []string{"MER1", "LOC1"}, payees(map[string]string{"merchant_id": "MER1", "location_id": "LOC1"}))
	require.Equal(t, []string{"MER1"}, payees(map[string]string{"merchant_id": "MER1"}))
	require.Empty(t, payees(map[string]string{"location_id": "LOC1"}), "events name the seller alone")
	body := `{"payment":{"id":"p-1","status":"PENDING","location_id":"LOC2"}}`
	for location, want := range map[string]string{"": "", "LOC1": "LOC2"} {
		c := says(t, http.StatusOK, body)
		c.Location = location
		o, err := c.Lookup(t.Context(), "p-1")
		require.NoError(t, err)
		require.Equal(t, want, o.Payee)
	}
}

// TestAnOrderIsEndedElsewhere: an order is not a lost charge, which a cancel by key could end.
func TestAnOrderIsEndedElsewhere(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, newFake())
	_, err := c.Cancel(t.Context(), gateway.Cancel{Container: openOrder, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupported)
	require.Empty(t, seen)
}
