package stripe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/stripe"
	"github.com/paylatch/paylatch/webhooks"
)

func client(t *testing.T) (*fake, *stripe.Client) {
	t.Helper()
	f, ok := newFake(t).(*fake)
	require.True(t, ok)
	c, _ := serve(t, f)
	return f, c
}

// TestOnePaymentHasOneID: the answer to a charge, lookups by the payment and by its page, and webhooks name one id.
func TestOnePaymentHasOneID(t *testing.T) {
	t.Parallel()
	f, c := client(t)
	made := charged(t, c, charge("pm_card_visa"))
	page := f.page("complete", made.ProviderPaymentID)
	byID, err := c.Lookup(t.Context(), made.ProviderPaymentID)
	id := providertest.ByOutcome(t, byID, err)
	byPage, err := c.Lookup(t.Context(), page)
	inPage := providertest.ByOutcome(t, byPage, err)
	require.Equal(t, page, inPage.Container)
	require.Equal(t, fsm.EventSucceeded, byPage.Event)
	events := hooked(t,
		event("evt_1", "payment_intent.succeeded", at(0), f.intents[made.ProviderPaymentID].render()),
		event("evt_2", "charge.succeeded", at(0), captured("ch_1", made.ProviderPaymentID, 1999)),
		event("evt_3", "checkout.session.completed", at(0), with(f.sessions[page].render(), "payment_status", "paid")),
	)
	sources := map[string]providertest.Named{"charge": providertest.ByOutcome(t, made, nil), "lookup": id, "page": inPage}
	for _, e := range events {
		sources[e.Type] = providertest.ByEvents(t, []webhooks.Event{e}, nil)
	}
	providertest.OnePayment(t, providertest.Named{Payment: made.ProviderPaymentID, Container: page}, sources)
}

func TestLookup(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status string
		want   gateway.Outcome
	}{
		"page that is open":    {"open", gateway.Outcome{Event: fsm.EventActionRequired, NextAction: payment.Redirect("https://checkout.stripe.com/c/pay/cs_test_3fake1")}},
		"page that has ended":  {"expired", gateway.Outcome{Event: fsm.EventFailed, Failure: payment.NewFailure("expired", "")}},
		"page without payment": {"complete", gateway.Outcome{Event: fsm.EventProcessing}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, c := client(t)
			test.want.Container, test.want.Live = f.page(test.status, ""), new(false)
			test.want.References = []string{test.want.Container}
			got, err := c.Lookup(t.Context(), test.want.Container)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
	t.Run("declined on a page that is open", func(t *testing.T) {
		t.Parallel()
		f, c := client(t)
		declined := charged(t, c, charge("pm_card_visa_chargeDeclined"))
		got, err := c.Lookup(t.Context(), f.page("open", declined.ProviderPaymentID))
		require.NoError(t, err)
		require.Equal(t, declined.ProviderPaymentID, got.ProviderPaymentID)
		require.Equal(t, fsm.EventSoftFailed, got.Event)
		require.True(t, got.PageOpen)
	})
	t.Run("no page", func(t *testing.T) {
		t.Parallel()
		_, c := client(t)
		_, err := c.Lookup(t.Context(), "cs_test_nobody")
		require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	})
}

func TestFind(t *testing.T) {
	t.Parallel()
	f, c := client(t)
	ch := charge("pm_card_visa_chargeDeclined")
	declined := charged(t, c, ch)
	again := ch
	again.Token, again.IdempotencyKey = "pm_card_visa", "0123-again"
	paid := charged(t, c, again)
	require.NotEqual(t, declined.ProviderPaymentID, paid.ProviderPaymentID)
	require.Len(t, f.intents, 2)
	for range 8 { // the search is unordered
		found, err := c.Find(t.Context(), ch.Attempt)
		require.NoError(t, err)
		require.Equal(t, paid.ProviderPaymentID, found.ProviderPaymentID)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	cancel := func(t *testing.T, c *stripe.Client, id, page string) gateway.Outcome {
		t.Helper()
		o, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: id, Container: page, IdempotencyKey: "0123-cancel-0", Permit: permit()})
		require.NoError(t, err)
		return o
	}
	t.Run("page without a payment", func(t *testing.T) {
		t.Parallel()
		f, c := client(t)
		page := f.page("open", "")
		for range 2 {
			o := cancel(t, c, "", page)
			require.Equal(t, fsm.EventFailed, o.Event)
			require.False(t, o.Refused)
			require.Equal(t, page, o.Container)
			require.Empty(t, o.ProviderPaymentID)
		}
		require.Equal(t, "expired", f.sessions[page].status)
	})
	t.Run("payment on an open page", func(t *testing.T) {
		t.Parallel()
		f, c := client(t)
		begun := charged(t, c, charge("pm_card_visa_chargeDeclined")).ProviderPaymentID
		page := f.page("open", begun)
		o := cancel(t, c, begun, page)
		require.Equal(t, fsm.EventFailed, o.Event)
		require.False(t, o.Refused)
		require.Equal(t, begun, o.ProviderPaymentID)
		require.Equal(t, "expired", f.sessions[page].status)
	})
	t.Run("page that was paid", func(t *testing.T) {
		t.Parallel()
		f, c := client(t)
		paid := charged(t, c, charge("pm_card_visa")).ProviderPaymentID
		o := cancel(t, c, "", f.page("complete", paid))
		require.True(t, o.Refused)
		require.Equal(t, fsm.EventSucceeded, o.Event)
		require.Equal(t, paid, o.ProviderPaymentID)
	})
	t.Run("payment whose page holds another", func(t *testing.T) {
		t.Parallel()
		f, c := client(t)
		first := charged(t, c, charge("pm_card_visa_chargeDeclined")).ProviderPaymentID
		ch := charge("pm_card_visa")
		ch.IdempotencyKey = "0123-other"
		other := charged(t, c, ch).ProviderPaymentID
		o := cancel(t, c, first, f.page("complete", other))
		require.Equal(t, first, o.ProviderPaymentID)
		require.Equal(t, fsm.EventFailed, o.Event)
		require.Equal(t, "succeeded", f.intents[other].status)
	})
}

func TestPayees(t *testing.T) {
	t.Parallel()
	payees := stripe.Adapter().Payees
	require.Equal(t, []string{"acct_1"}, payees(map[string]string{"account": "acct_1"}))
	require.NotContains(t, payees(nil), "acct_1", "a connected account is not the account of the key")
}
