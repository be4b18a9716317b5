package cloudpayments_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

// statuses returns the statuses of a page's transactions in order.
func (f *fake) statuses() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, t := range f.transactions {
		all = append(all, t.status)
	}
	return all
}

func (t *transaction) name() string { return strconv.Itoa(t.id) }

// A command applies to the named transaction, even if the page has others.
func TestCommands_are_for_the_named_transaction(t *testing.T) {
	t.Parallel()
	f, c, ch, o, _ := opened(t)
	held := f.pays(ch, "Authorized", 0)
	other := f.pays(ch, "Authorized", 0)
	cp := gateway.Capture{ProviderPaymentID: held.name(), Container: o.Container, Money: rub(500), IdempotencyKey: "c", Permit: permit()}
	for range 2 { // the answer was lost
		taken, err := c.Capture(t.Context(), cp)
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, taken.Event)
		require.Equal(t, held.name(), taken.ProviderPaymentID)
		require.Equal(t, rub(500), *taken.Money)
	}
	f.pays(ch, "AwaitingAuthentication", 0)
	over, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: other.name(), Container: o.Container, IdempotencyKey: "v", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, canceled(other.name(), ""), over)
	back, err := c.Refund(t.Context(), gateway.RefundCall{
		ProviderPaymentID: held.name(), Container: o.Container, Money: rub(200), IdempotencyKey: "r", Permit: permit(),
	})
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, back.Event)
	require.EqualValues(t, 200, held.refunded)
	require.Equal(t, []string{"Completed", "Cancelled", "AwaitingAuthentication", "Completed"}, f.statuses())
	require.NotEmpty(t, f.orders, "the page is still open")
}

func canceled(id, container string) gateway.Outcome {
	return gateway.Outcome{Event: fsm.EventFailed, ProviderPaymentID: id, Container: container, Failure: payment.NewFailure("canceled", "")}
}

// Without a payment's id, no command that captures or refunds is sent.
func TestCommands_without_a_payment_are_not_sent(t *testing.T) {
	t.Parallel()
	f, c, ch, o, got := opened(t)
	f.pays(ch, "Authorized", 0)
	f.pays(ch, "Completed", 0)
	for _, id := range []string{"", o.Container} {
		_, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: id, Container: o.Container, Money: rub(1), IdempotencyKey: "c", Permit: permit()})
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, id)
		_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: id, Container: o.Container, Money: rub(1), IdempotencyKey: "r", Permit: permit()})
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, id)
	}
	require.Empty(t, got)
}

// The hold is captured between the lookup and the command. A hold that can't be released does not end the page.
func TestCancel_of_a_page_whose_hold_was_captured_is_refused(t *testing.T) {
	t.Parallel()
	f := serving()
	var held *transaction
	silent := true
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/payments/void":
			held.status = "Completed"
		case r.URL.Path == "/payments/get" && silent:
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		f.ServeHTTP(w, r)
	}))
	ch := charge("redirect")
	o := charged(t, c, ch)
	held = f.pays(ch, "Authorized", 0)
	cl := gateway.Cancel{Container: o.Container, IdempotencyKey: "k", Permit: permit()}
	_, err := c.Cancel(t.Context(), cl)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	silent, held.status = false, "Authorized"
	over, err := c.Cancel(t.Context(), cl)
	require.NoError(t, err)
	require.True(t, over.Refused)
	require.Equal(t, fsm.EventSucceeded, over.Event)
	require.Equal(t, held.name(), over.ProviderPaymentID)
	require.Equal(t, o.Container, over.Container)
}

// TestOnePayment: the page is the container, and its transaction is the payment.
func TestOnePayment(t *testing.T) {
	t.Parallel()
	f, c, ch, o, _ := opened(t)
	paid := f.pays(ch, "Completed", 0)
	providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: o, Webhook: notify(t, "pay", map[string]string{
		"TransactionId": paid.name(), "InvoiceId": paid.invoice, "Amount": "19.99", "Currency": "RUB", "Status": "Completed", "TestMode": "1",
	})})
	direct := charged(t, c, charge(good))
	providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: direct, Webhook: notify(t, "pay", map[string]string{
		"TransactionId": direct.ProviderPaymentID, "InvoiceId": "i", "Amount": "19.99", "Currency": "RUB", "Status": "Completed",
	})})
	require.Equal(t, publicID, direct.Payee)
	require.False(t, *direct.Live)
}

// Two tries on one page are two payments. The failure of the second does not fail the first.
func TestLookup_of_two_tries(t *testing.T) {
	t.Parallel()
	f, c, ch, o, _ := opened(t)
	first := f.pays(ch, "Completed", 0)
	second := f.pays(ch, "Declined", 5005)
	for of, want := range map[*transaction]fsm.Event{first: fsm.EventSucceeded, second: fsm.EventFailed} {
		now, err := c.Lookup(t.Context(), of.name())
		require.NoError(t, err)
		require.Equal(t, of.name(), now.ProviderPaymentID)
		require.Equal(t, want, now.Event)
	}
	now, err := c.Lookup(t.Context(), o.Container)
	require.NoError(t, err)
	require.Equal(t, second.name(), now.ProviderPaymentID, "CloudPayments shows the last")
	require.True(t, now.PageOpen)
	over, err := c.Cancel(t.Context(), gateway.Cancel{Container: o.Container, IdempotencyKey: "k", Permit: permit(), Quiet: time.Hour})
	require.NoError(t, err)
	require.Empty(t, over.ProviderPaymentID, "the end of the page is no payment's")
}
