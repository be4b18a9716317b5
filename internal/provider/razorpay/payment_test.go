package razorpay_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/razorpay"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/razorpay"
)

// TestOnePaymentHasOneID: answers, lookups by payment, order and link, and webhooks name the payment by its own id.
func TestOnePaymentHasOneID(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	cp, paid := agreed(t, f, c, "authorized")
	done, err := c.Complete(t.Context(), cp)
	require.NoError(t, err)
	charge := gateway.Outcome{Container: cp.Container, References: []string{cp.Container}}
	for _, event := range []string{"payment.captured", "order.paid"} {
		webhook := hooked(t, event, map[string]object{"payment": f.links[0].renderPayment(), "order": f.links[0].renderOrder()})
		providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: charge, Webhook: webhook})
		require.Equal(t, paid, webhook.ProviderPaymentID)
		require.Equal(t, "acc_1", webhook.Payee)
	}
	providertest.OnePayment(t, providertest.Named{Payment: paid, Container: cp.Container}, map[string]providertest.Named{"complete": providertest.ByOutcome(t, done, nil)})
}

// hooked returns the webhook with these entities.
func hooked(t *testing.T, event string, entities map[string]object) webhooks.Event {
	t.Helper()
	payload := object{}
	for name, e := range entities {
		payload[name] = object{"entity": e}
	}
	raw, err := json.Marshal(payload)
	require.NoError(t, err)
	v, err := hooks.New(webhooks.Config{Secrets: []string{secret}})
	require.NoError(t, err)
	events := v.Read(webhooks.Delivery{Body: fmt.Appendf(nil, `{"entity":"event","account_id":"acc_1","event":%q,"contains":["payment"],"created_at":1567674606,"payload":%s}`, event, raw)})
	require.Len(t, events, 1)
	return events[0]
}

// TestCancel: a failed try ends with its link or order, and a payment that holds money is unchanged.
func TestCancel(t *testing.T) {
	t.Parallel()
	cancel := func(t *testing.T, c *razorpay.Client, cl gateway.Cancel) gateway.Outcome {
		t.Helper()
		cl.IdempotencyKey, cl.Permit, cl.Quiet = "k-cancel", permit(), time.Hour
		o, err := c.Cancel(t.Context(), cl)
		require.NoError(t, err)
		return o
	}
	t.Run("failed try of a link", func(t *testing.T) {
		t.Parallel()
		for _, known := range []bool{true, false} {
			f := newFake(t)
			c, _ := serve(t, f)
			ch := charge("redirect")
			link := charged(t, c, ch).Container
			f.try(link, "failed")
			cl := gateway.Cancel{Attempt: ch.Attempt, ProviderPaymentID: "pay_Try0"}
			if known {
				cl.Container, cl.Attempt = link, payment.AttemptID(uuid.New())
			}
			o := cancel(t, c, cl)
			require.Equal(t, fsm.EventFailed, o.Event)
			require.Equal(t, "pay_Try0", o.ProviderPaymentID)
			require.False(t, o.Refused)
			require.Equal(t, "cancelled", f.links[0].status)
		}
	})
	t.Run("failed try of an order that another paid", func(t *testing.T) {
		t.Parallel()
		f := newFake(t)
		c, _ := serve(t, f)
		order := charged(t, c, charge("checkout")).Container
		f.try(order, "failed")
		paid := f.agree(order, "captured")
		o := cancel(t, c, gateway.Cancel{ProviderPaymentID: "pay_Try0", Container: order})
		require.Equal(t, fsm.EventFailed, o.Event)
		require.Equal(t, "pay_Try0", o.ProviderPaymentID)
		now, err := c.Lookup(t.Context(), paid)
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, now.Event)
	})
	t.Run("nothing", func(t *testing.T) {
		t.Parallel()
		c, _ := serve(t, newFake(t))
		_, err := c.Cancel(t.Context(), gateway.Cancel{Permit: permit()})
		require.ErrorIs(t, err, gateway.ErrNotSent)
	})
}

func TestPayees(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"acc_1"}, razorpay.Adapter().Payees(map[string]string{"account_id": "acc_1"}))
	require.Empty(t, razorpay.Adapter().Payees(nil))
}

// A link that was paid by several payments states their sum. The lookup has one of them, with its own amount.
func TestALinkPaidInPartsHasOnePaymentsAmount(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{
		"/v1/payment_links/plink_1": `{"id":"plink_1","status":"paid","currency":"INR","amount":1000,"amount_paid":1000,"order_id":"order_1",
			"payments":[{"payment_id":"pay_2"},{"payment_id":"pay_1"}]}`,
		"/v1/orders/order_1/payments": `{"items":[{"id":"pay_2","entity":"payment","status":"captured","order_id":"order_1","amount":600,"currency":"INR"},
			{"id":"pay_1","entity":"payment","status":"captured","order_id":"order_1","amount":400,"currency":"INR"}]}`,
		"/v1/orders/order_1": `{"id":"order_1","entity":"order","status":"paid","attempts":2}`,
	}
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, bodies[r.URL.Path]) }))
	o, err := c.Lookup(t.Context(), "plink_1")
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventSucceeded, ProviderPaymentID: "pay_2", Container: "plink_1", References: []string{"plink_1", "order_1"}, Money: new(rupees(600)),
	}, o)
}
