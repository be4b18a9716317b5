package gocardless_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/gocardless/gocardlesstest"
)

// A payment can be cancelled until it is submitted. A later payment continues, and the outcome is its state.
func TestCancelOfAPayment(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]struct {
		news fsm.Event
		sent bool
	}{
		"pending_submission": {fsm.EventFailed, true}, "pending_customer_approval": {fsm.EventActionRequired, false}, "submitted": {fsm.EventProcessing, false},
		"confirmed": {fsm.EventSucceeded, false}, "cancelled": {fsm.EventFailed, false}, "of_the_future": {fsm.EventProcessing, false},
	} {
		f := gocardlesstest.New()
		c, got := serve(t, f)
		id := charged(t, c, charge(gocardlesstest.Mandate)).ProviderPaymentID
		<-got
		f.Set(id, status)
		o, err := c.Cancel(t.Context(), cancelOf(id))
		require.NoError(t, err, status)
		require.Equal(t, want.news, o.Event, status)
		require.Equal(t, want.news != fsm.EventFailed, o.Refused, status)
		require.Equal(t, want.sent, len(got) == 1, status)
	}
}

// If a customer authorises while a cancel is under way, the payment continues.
func TestCancelThatIsOvertaken(t *testing.T) {
	t.Parallel()
	f := gocardlesstest.New()
	var id string
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/billing_requests/"+id+"/actions/cancel" {
			f.Authorise(id)
		}
		f.ServeHTTP(w, r)
	}))
	id = charged(t, c, charge("redirect")).Container
	o, err := c.Cancel(t.Context(), closeOf(id))
	require.NoError(t, err)
	require.True(t, o.Refused)
	require.Equal(t, fsm.EventSucceeded, o.Event)
}

// A late failure or a chargeback takes back the money of a confirmed payment, under each of the payment's names.
func TestLateFailures(t *testing.T) {
	t.Parallel()
	f := gocardlesstest.New()
	c, _ := serve(t, f)
	request := charged(t, c, charge("redirect")).Container
	made := f.Authorise(request)
	for _, id := range []string{request, made} {
		f.Set(made, "failed")
		o, err := c.Lookup(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, made, o.ProviderPaymentID)
		require.Equal(t, fsm.EventFailed, o.Event)
		require.True(t, o.Reverses)
		f.Set(made, "charged_back")
		o, err = c.Lookup(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, o.Event)
		require.Equal(t, []payment.MovementReport{{Kind: payment.MovementChargeback, Money: euros(1999)}}, o.Movements)
	}
}

// This test looks up a billing request without a payment in each status.
func TestLookupOfABillingRequest(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]fsm.Event{
		"pending": fsm.EventActionRequired, "ready_to_fulfil": fsm.EventActionRequired, "fulfilling": fsm.EventProcessing, "fulfilled": fsm.EventProcessing,
		"cancelled": fsm.EventFailed, "of_the_future": fsm.EventProcessing,
	} {
		c := answering(t, map[string]string{"/billing_requests/BRQ1": `{"billing_requests":{"id":"BRQ1","status":"` + status + `","metadata":{"payment_attempt_id":"att_1"},"links":{}}}`})
		o, err := c.Lookup(t.Context(), "BRQ1")
		require.NoError(t, err)
		require.Equal(t, want, o.Event, status)
		require.Equal(t, []string{"att_1", "BRQ1"}, o.References)
		require.Equal(t, []string{"", "BRQ1"}, []string{o.ProviderPaymentID, o.Container})
	}
	c := answering(t, map[string]string{"/billing_requests/BRQ1": `{"billing_requests":{"id":"BRQ1","status":"fulfilled","links":{"payment_request_payment":"PM1"}}}`})
	_, err := c.Lookup(t.Context(), "BRQ1")
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, "the payment was made")
}

// A refund whose answer was lost is found by our id in its payment's list, with any key.
func TestALostRefundIsMadeOnce(t *testing.T) {
	t.Parallel()
	f := gocardlesstest.New()
	c, got := serve(t, f)
	lossy, _ := serve(t, losing(f, "POST /refunds"))
	id := f.Authorise(charged(t, c, charge("redirect")).Container)
	r := refundOf(id, 700)
	_, err := lossy.Refund(t.Context(), r)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	for len(got) > 0 {
		<-got
	}
	r.IdempotencyKey = "another"
	o, err := c.Refund(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, r.Refund.String(), o.Reference)
	require.Empty(t, got, "nothing is sent")
	require.Equal(t, 1, f.Count("RF"))
	found, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: r.Refund, ProviderRefundID: o.ProviderRefundID, ProviderPaymentID: id})
	require.NoError(t, err)
	require.Equal(t, o, found)
	other := f.Authorise(charged(t, c, charge("redirect")).Container)
	_, err = c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: o.ProviderRefundID, ProviderPaymentID: other})
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment, "it is another payment's")
	for _, missing := range []string{gocardlesstest.MissingID, "BRQ0NONE"} {
		_, err = c.LookupRefund(t.Context(), gateway.RefundRef{Refund: r.Refund, ProviderPaymentID: missing})
		require.ErrorIs(t, err, gateway.ErrInconclusive, "that is no evidence about its refunds")
		_, err = c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: o.ProviderRefundID, ProviderPaymentID: missing})
		require.ErrorIs(t, err, gateway.ErrNoSuchPayment, "it is another payment's")
	}
}

// Of two concurrent refunds, the second has an outdated total. It is refused, and its outcome stays unknown until the
// next try.
func TestRefundsBesideEachOther(t *testing.T) {
	t.Parallel()
	f := gocardlesstest.New()
	var id string
	raced := false
	plain, _ := serve(t, f)
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method+r.URL.Path == "POST/refunds" && !raced {
			raced = true
			if _, err := plain.Refund(r.Context(), refundOf(id, 500)); err != nil {
				t.Error(err)
			}
		}
		f.ServeHTTP(w, r)
	}))
	id = f.Authorise(charged(t, c, charge("redirect")).Container)
	r := refundOf(id, 700)
	_, err := c.Refund(t.Context(), r)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	o, err := c.Refund(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, euros(700), *o.Money)
	require.Equal(t, 2, f.Count("RF"))

	r.Money.Currency = "USD"
	_, err = c.Refund(t.Context(), r)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
}
