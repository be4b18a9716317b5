package cloudpayments_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/cloudpayments"
)

// pays makes a payment on a page as its customer, with this status.
func (f *fake) pays(ch gateway.Charge, status string, reason int) *transaction {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.add(&transaction{invoice: ch.Attempt.String(), currency: "RUB", amount: 1999, status: status, reason: reason})
}

func opened(t *testing.T) (*fake, *cloudpayments.Client, gateway.Charge, gateway.Outcome, <-chan seen) {
	t.Helper()
	f := serving()
	c, got := serve(t, f)
	ch := charge("redirect")
	o := charged(t, c, ch)
	<-got
	return f, c, ch, o, got
}

// A page is looked up by its last transaction. After a decline, the customer may make another transaction.
func TestLookup_of_a_page(t *testing.T) {
	t.Parallel()
	f, c, ch, o, _ := opened(t)
	require.Empty(t, o.ProviderPaymentID, "nobody has paid")
	look := func() gateway.Outcome {
		t.Helper()
		now, err := c.Lookup(t.Context(), o.Container)
		require.NoError(t, err)
		require.Equal(t, o.Container, now.Container)
		require.Subset(t, now.References, o.References)
		return now
	}
	require.Equal(t, gateway.Outcome{Event: fsm.EventActionRequired, Container: o.Container, References: o.References}, look())
	declined := f.pays(ch, "Declined", 5051)
	now := look()
	require.Equal(t, fsm.EventFailed, now.Event)
	require.True(t, now.PageOpen)
	require.Equal(t, payment.NewFailure("insufficient_funds", "5051"), now.Failure)
	require.Equal(t, declined.name(), now.ProviderPaymentID)
	f.pays(ch, "AwaitingAuthentication", 0)
	require.Equal(t, fsm.EventActionRequired, look().Event)
	paid := f.pays(ch, "Completed", 0)
	now = look()
	require.Equal(t, fsm.EventSucceeded, now.Event)
	require.Equal(t, rub(1999), *now.Money)
	require.Equal(t, paid.name(), now.ProviderPaymentID)
}

// The page is closed first. The customer's payment on the page then decides the outcome of the cancel. A payment that
// may hold or have taken money is named.
func TestCancel_of_a_page(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]gateway.Outcome{
		"":                       {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")},
		"Declined":               {Event: fsm.EventFailed, Failure: payment.NewFailure("card_declined", "5005")},
		"Authorized":             {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")},
		"Cancelled":              {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")},
		"AwaitingAuthentication": {Event: fsm.EventActionRequired, ProviderPaymentID: "502"},
		"Marinating":             {Event: fsm.EventProcessing, ProviderPaymentID: "502"},
		"Completed":              {Event: fsm.EventSucceeded, ProviderPaymentID: "502", Refused: true, Money: new(rub(1999))},
	} {
		f, c, ch, o, got := opened(t)
		if status != "" {
			f.pays(ch, status, 5005)
		}
		over, err := c.Cancel(t.Context(), gateway.Cancel{
			Container: o.Container, IdempotencyKey: "k-cancel-0", Permit: permit(), Quiet: 10 * time.Minute,
		})
		require.NoError(t, err, status)
		want.Container, want.References = o.Container, over.References
		if want.ProviderPaymentID != "" {
			want.Payee, want.Live = publicID, new(false)
		}
		require.Equal(t, want, over, status)
		sent := <-got
		require.Equal(t, "POST /orders/cancel", sent.line)
		require.Equal(t, "k-cancel-0", sent.header.Get("X-Request-Id"))
		require.JSONEq(t, `{"Id":"`+o.References[1]+`"}`, sent.body)
		require.Empty(t, f.orders)
		if status == "Authorized" {
			require.Equal(t, "Cancelled", f.transactions[0].status)
		}
	}
}

// The last try was declined, but an earlier try may still be in 3-D Secure, and is not listed.
func TestCancel_of_a_page_after_a_decline_ends_it_once_nothing_is_under_way(t *testing.T) {
	t.Parallel()
	f, c, ch, o, _ := opened(t)
	f.pays(ch, "AwaitingAuthentication", 0)
	f.pays(ch, "Declined", 5005)
	for quiet, want := range map[time.Duration]fsm.Event{
		-time.Minute: fsm.EventSoftFailed, 10*time.Minute - 1: fsm.EventSoftFailed, 10 * time.Minute: fsm.EventFailed, math.MaxInt64: fsm.EventFailed,
	} {
		over, err := c.Cancel(t.Context(), gateway.Cancel{Container: o.Container, IdempotencyKey: "k", Permit: permit(), Quiet: quiet})
		require.NoError(t, err)
		require.Equal(t, want, over.Event, quiet)
		require.False(t, over.Refused)
		require.Equal(t, payment.NewFailure("card_declined", "5005"), over.Failure)
	}
}

// Another caller closed the page and no payment was made, so it is unknown whether the page is over.
func TestCancel_of_a_page_that_cannot_be_closed(t *testing.T) {
	t.Parallel()
	f, c, ch, o, _ := opened(t)
	clear(f.orders)
	over, err := c.Cancel(t.Context(), gateway.Cancel{Container: o.Container, IdempotencyKey: "k", Permit: permit()})
	require.NoError(t, err)
	require.True(t, over.Refused)
	require.Equal(t, fsm.EventActionRequired, over.Event)
	f.pays(ch, "Declined", 5005)
	over, err = c.Cancel(t.Context(), gateway.Cancel{Container: o.Container, IdempotencyKey: "k", Permit: permit(), Quiet: time.Hour})
	require.NoError(t, err)
	require.Equal(t, fsm.EventSoftFailed, over.Event, "it may yet be paid there")
}

// Captures, refunds and the search for a refund concern a transaction of the page.
func TestCommands_of_a_payment_on_a_page(t *testing.T) {
	t.Parallel()
	f, c, ch, o, _ := opened(t)
	paid := f.pays(ch, "Authorized", 0)
	taken, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: paid.name(), Container: o.Container, Money: rub(500), IdempotencyKey: "c", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: paid.name(), Money: new(rub(500))}, taken)
	r := gateway.RefundCall{
		Refund: payment.RefundID(uuid.New()), ProviderPaymentID: paid.name(), Container: o.Container, Money: rub(200), IdempotencyKey: "r", Permit: permit(),
	}
	back, err := c.Refund(t.Context(), r)
	require.NoError(t, err)
	require.EqualValues(t, 500, paid.amount)
	require.EqualValues(t, 200, paid.refunded)
	for _, ref := range []gateway.RefundRef{
		{Refund: r.Refund, ProviderPaymentID: paid.name(), Container: o.Container}, {Refund: r.Refund, ProviderPaymentID: paid.name()},
	} {
		found, err := c.LookupRefund(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, back, found)
	}
}
