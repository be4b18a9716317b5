package cloudpayments_test

import (
	"io"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/cloudpayments"
)

// pays is a customer who pays on a page, so far as the status says.
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

// A page stands as its last transaction does. One that was declined is no end: the
// customer may try again.
func TestHowAPageStands(t *testing.T) {
	t.Parallel()
	f, c, ch, o, _ := opened(t)
	look := func() gateway.Outcome {
		t.Helper()
		now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
		require.NoError(t, err)
		require.Equal(t, o.ProviderPaymentID, now.ProviderPaymentID, "the name stays")
		require.Equal(t, o.References[0], now.References[0])
		return now
	}
	require.Equal(t, gateway.Outcome{
		News: fsm.NewsActionRequired, ProviderPaymentID: o.ProviderPaymentID, References: o.References,
	}, look(), "nobody came: it waits for its customer")
	f.pays(ch, "Declined", 5051)
	now := look()
	require.Equal(t, fsm.NewsSoftFailed, now.News)
	require.True(t, now.PageOpen)
	require.Equal(t, payment.NewFailure("insufficient_funds", "5051"), now.Failure)
	f.pays(ch, "AwaitingAuthentication", 0)
	require.Equal(t, fsm.NewsActionRequired, look().News)
	f.pays(ch, "Completed", 0)
	now = look()
	require.Equal(t, fsm.NewsSucceeded, now.News)
	require.Equal(t, rub(1999), *now.Money)
	require.Len(t, now.References, 2)
}

// What the customer did on the page decides what becomes of its cancellation; the
// page is closed first.
func TestCancellingAPage(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]gateway.Outcome{
		"":                       {News: fsm.NewsFailed, Failure: payment.NewFailure("canceled", "")},
		"Declined":               {News: fsm.NewsFailed, Failure: payment.NewFailure("card_declined", "5005")},
		"Authorized":             {News: fsm.NewsFailed, Failure: payment.NewFailure("canceled", "")},
		"Cancelled":              {News: fsm.NewsFailed, Failure: payment.NewFailure("canceled", "")},
		"AwaitingAuthentication": {News: fsm.NewsActionRequired},
		"Marinating":             {News: fsm.NewsProcessing},
		"Completed":              {News: fsm.NewsSucceeded, Refused: true, Money: new(rub(1999))},
	} {
		f, c, ch, o, got := opened(t)
		if status != "" {
			f.pays(ch, status, 5005)
		}
		over, err := c.Cancel(t.Context(), gateway.Cancel{
			ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: "k-cancel-0", Permit: permit(), Quiet: 10 * time.Minute,
		})
		require.NoError(t, err, status)
		want.ProviderPaymentID, want.References = o.ProviderPaymentID, over.References
		require.Equal(t, want, over, status)
		sent := <-got
		require.Equal(t, "POST /orders/cancel", sent.line)
		require.Equal(t, "k-cancel-0", sent.header.Get("X-Request-Id"))
		require.JSONEq(t, `{"Id":"`+o.References[0]+`"}`, sent.body)
		require.Empty(t, f.orders)
		if status == "Authorized" {
			require.Equal(t, "Cancelled", f.transactions[0].status)
		}
	}
}

// The last try was declined: an earlier one may still be at the bank's proof of its
// holder, and is not told of.
func TestADeclineOnAClosedPageIsTheEndOnceNobodyCanBeAtIt(t *testing.T) {
	t.Parallel()
	f, c, ch, o, _ := opened(t)
	f.pays(ch, "AwaitingAuthentication", 0)
	f.pays(ch, "Declined", 5005)
	for quiet, want := range map[time.Duration]fsm.News{
		-time.Minute: fsm.NewsSoftFailed, 10*time.Minute - 1: fsm.NewsSoftFailed, 10 * time.Minute: fsm.NewsFailed, math.MaxInt64: fsm.NewsFailed,
	} {
		over, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: "k", Permit: permit(), Quiet: quiet})
		require.NoError(t, err)
		require.Equal(t, want, over.News, quiet)
		require.False(t, over.Refused)
		require.Equal(t, payment.NewFailure("card_declined", "5005"), over.Failure)
	}
}

// Closed by somebody else, and nobody paid: whether it is over can't be told.
func TestAPageThatCanNotBeClosedIsNotFailed(t *testing.T) {
	t.Parallel()
	f, c, _, o, _ := opened(t)
	clear(f.orders)
	over, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: "k", Permit: permit()})
	require.NoError(t, err)
	require.True(t, over.Refused)
	require.Equal(t, fsm.NewsActionRequired, over.News)
}

// What was declined on a page that is still open may yet be paid there.
func TestADeclineOnAPageThatCanNotBeClosedIsNotTheEnd(t *testing.T) {
	t.Parallel()
	f, c, ch, o, _ := opened(t)
	f.pays(ch, "Declined", 5005)
	clear(f.orders)
	over, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: "k", Permit: permit(), Quiet: time.Hour})
	require.NoError(t, err)
	require.Equal(t, fsm.NewsSoftFailed, over.News)
}

// Captures and refunds are of the page's transaction.
func TestWhatWasPaidOnAPageIsCapturedAndRefunded(t *testing.T) {
	t.Parallel()
	f, c, ch, o, _ := opened(t)
	_, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: o.ProviderPaymentID, Money: rub(500), IdempotencyKey: "c", Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	paid := f.pays(ch, "Authorized", 0)
	taken, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: o.ProviderPaymentID, Money: rub(500), IdempotencyKey: "c", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{News: fsm.NewsSucceeded, ProviderPaymentID: o.ProviderPaymentID, Money: new(rub(500))}, taken)
	r := gateway.RefundCall{
		Refund: payment.RefundID(uuid.New()), ProviderPaymentID: o.ProviderPaymentID, Money: rub(200), IdempotencyKey: "r", Permit: permit(),
	}
	back, err := c.Refund(t.Context(), r)
	require.NoError(t, err)
	require.EqualValues(t, 500, paid.amount)
	require.EqualValues(t, 200, paid.refunded)
	found, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: r.Refund, ProviderPaymentID: o.ProviderPaymentID})
	require.NoError(t, err)
	require.Equal(t, back, found)
}

// If it can't be told which transaction is meant, no money was asked for.
func TestATransactionThatIsNotToldLeavesTheCommandUnsent(t *testing.T) {
	t.Parallel()
	c, got := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html>")
	}))
	_, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "o:i", Money: rub(1), Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.NotErrorIs(t, err, gateway.ErrUnfit)
	_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "o:i", Money: rub(1), Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.NotErrorIs(t, err, gateway.ErrUnfit)
	require.Len(t, got, 2)
	require.Equal(t, "POST /payments/find", (<-got).line)
}
