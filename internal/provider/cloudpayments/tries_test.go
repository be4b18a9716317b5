package cloudpayments_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// statuses are those of all transactions of a page, in their order.
func (f *fake) statuses() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, t := range f.transactions {
		all = append(all, t.status)
	}
	return all
}

func (t *transaction) known() []string { return []string{strconv.Itoa(t.id)} }

// The last transaction of a page need not be the one that a command is for.
func TestACommandIsForTheTransactionThatItFits(t *testing.T) {
	t.Parallel()
	f, c, ch, o, _ := opened(t)
	held := f.pays(ch, "Authorized", 0)
	f.pays(ch, "Declined", 5051)
	cp := gateway.Capture{ProviderPaymentID: o.ProviderPaymentID, Money: rub(500), IdempotencyKey: "c", Permit: permit(), Transactions: held.known()}
	for range 2 { // the answer was lost
		taken, err := c.Capture(t.Context(), cp)
		require.NoError(t, err)
		require.Equal(t, fsm.NewsSucceeded, taken.News)
		require.Equal(t, rub(500), *taken.Money)
	}
	f.pays(ch, "AwaitingAuthentication", 0)
	back, err := c.Refund(t.Context(), gateway.RefundCall{
		ProviderPaymentID: o.ProviderPaymentID, Money: rub(200), IdempotencyKey: "r", Permit: permit(), Transactions: held.known(),
	})
	require.NoError(t, err)
	require.Equal(t, fsm.NewsSucceeded, back.News)
	require.EqualValues(t, 200, held.refunded)
}

func TestWithoutATransactionThatFitsNothingIsSent(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"Declined", "Cancelled", "AwaitingAuthentication"} {
		f, c, ch, o, got := opened(t)
		f.pays(ch, status, 5051)
		_, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: o.ProviderPaymentID, Money: rub(1), IdempotencyKey: "c", Permit: permit()})
		require.ErrorIs(t, err, gateway.ErrNotSent, status)
		_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: o.ProviderPaymentID, Money: rub(1), IdempotencyKey: "r", Permit: permit()})
		require.ErrorIs(t, err, gateway.ErrNotSent, status)
		require.NotErrorIs(t, err, gateway.ErrUnfit)
		require.ErrorIs(t, err, gateway.ErrNotTold, "it is an answer: calls to others go on")
		for range 2 {
			require.Equal(t, "POST /payments/find", (<-got).line)
		}
		require.Empty(t, got)
	}
}

// Held twice it is taken once, whatever became of the first call.
func TestOfTwoHoldsOneIsCaptured(t *testing.T) {
	t.Parallel()
	f, c, ch, o, _ := opened(t)
	first := f.pays(ch, "Authorized", 0)
	f.pays(ch, "Authorized", 0)
	for _, key := range []string{"c-0", "c-1"} {
		taken, err := c.Capture(t.Context(), gateway.Capture{
			ProviderPaymentID: o.ProviderPaymentID, Money: rub(1999), IdempotencyKey: key, Permit: permit(), Transactions: first.known(),
		})
		require.NoError(t, err)
		require.Equal(t, fsm.NewsSucceeded, taken.News)
		require.False(t, taken.Refused)
		require.Equal(t, []string{"Completed", "Authorized"}, f.statuses())
	}
}

func TestACancellationReleasesEveryHold(t *testing.T) {
	t.Parallel()
	for last, want := range map[string]string{"Authorized": "Cancelled", "Declined": "Declined"} {
		f, c, ch, o, _ := opened(t)
		first := f.pays(ch, "Authorized", 0)
		f.pays(ch, last, 0)
		cl := gateway.Cancel{ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: "k", Permit: permit(), Transactions: first.known()}
		over, err := c.Cancel(t.Context(), cl)
		require.NoError(t, err)
		require.Equal(t, gateway.Outcome{News: fsm.NewsFailed, ProviderPaymentID: o.ProviderPaymentID, Failure: payment.NewFailure("canceled", "")}, over)
		require.Equal(t, []string{"Cancelled", want}, f.statuses())
	}
}

// Taken between the question and the command: a hold that can't be given up is not over.
func TestAHoldThatIsNotGivenUpIsNotCancelled(t *testing.T) {
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
	cl := gateway.Cancel{ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: "k", Permit: permit()}
	_, err := c.Cancel(t.Context(), cl)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	silent, held.status = false, "Authorized"
	over, err := c.Cancel(t.Context(), cl)
	require.NoError(t, err)
	require.True(t, over.Refused)
	require.Equal(t, fsm.NewsSucceeded, over.News)
}

// Money that was taken by an earlier try is not cancelled, whatever the last one is.
func TestAPageThatWasPaidBeforeItsLastTryIsNotCancelled(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"Declined", "Authorized"} {
		f, c, ch, o, _ := opened(t)
		paid := f.pays(ch, "Completed", 0)
		f.pays(ch, last, 5051)
		over, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: "k", Permit: permit(), Transactions: paid.known()})
		require.NoError(t, err)
		require.True(t, over.Refused, last)
		require.Equal(t, fsm.NewsSucceeded, over.News, last)
	}
}

// A known transaction that can't be asked for leaves the command unsent.
func TestAKnownTransactionMustBeTold(t *testing.T) {
	t.Parallel()
	f, c, ch, o, _ := opened(t)
	f.pays(ch, "Completed", 0)
	for _, known := range []string{"99", "x"} {
		_, err := c.Refund(t.Context(), gateway.RefundCall{
			ProviderPaymentID: o.ProviderPaymentID, Money: rub(1), IdempotencyKey: "r", Permit: permit(), Transactions: []string{known},
		})
		require.ErrorIs(t, err, gateway.ErrNotSent, known)
	}
}
