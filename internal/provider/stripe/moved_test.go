package stripe_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/stripe"
)

// holding returns a client of a fake with a captured payment or a hold.
func holding(t *testing.T, status string) (*stripe.Client, *fake, <-chan request) {
	t.Helper()
	f, ok := newFake(t).(*fake)
	require.True(t, ok)
	f.intents["pi_1"] = &intent{id: "pi_1", status: status, currency: "eur", amount: 1999, received: 1999, capturable: 1999, charge: "ch_1"}
	c, seen := serve(t, f)
	return c, f, seen
}

func lookedUp(t *testing.T, c *stripe.Client) gateway.Outcome {
	t.Helper()
	o, err := c.Lookup(t.Context(), "pi_1")
	require.NoError(t, err)
	return o
}

// withdrawn and reinstated return balance transactions of a dispute.
func withdrawn() object {
	return object{"object": "balance_transaction", "id": "txn_1", "amount": -1999, "created": at(6)}
}

func reinstated() object {
	return object{"object": "balance_transaction", "id": "txn_2", "amount": 1999, "created": at(7)}
}

func TestLookupShowsRefunds(t *testing.T) {
	t.Parallel()
	c, f, seen := holding(t, "succeeded")
	f.refunds = []*refund{
		{id: "re_2", intent: "pi_1", currency: "eur", status: "failed", amount: 300},
		{id: "re_1", intent: "pi_1", currency: "eur", status: "succeeded", amount: 500, metadata: map[string]string{"refund_id": "r-1"}},
		{id: "re_0", intent: "pi_0", currency: "eur", status: "succeeded", amount: 100},
	}
	o := lookedUp(t, c)
	require.Equal(t, []gateway.RefundOutcome{
		{ProviderRefundID: "re_2", Event: fsm.EventFailed, Money: euros(300), Failure: payment.NewFailure("provider_rejected", "")},
		{ProviderRefundID: "re_1", Event: fsm.EventSucceeded, Money: euros(500), Reference: "r-1"},
	}, o.Refunds)
	require.Equal(t, []string{"ch_1"}, o.References)
	require.Equal(t, "GET /v1/payment_intents/pi_1?expand%5B0%5D=latest_charge.refunds", (<-seen).line)
	require.Empty(t, seen, "one call")
}

// Refunds that the charge does not contain are read from their list.
func TestLookupShowsAllRefunds(t *testing.T) {
	t.Parallel()
	c, f, _ := holding(t, "succeeded")
	for i := range 5 {
		f.refunds = append(f.refunds, &refund{id: fmt.Sprint("re_", i), intent: "pi_1", currency: "eur", status: "pending", amount: 1})
	}
	o := lookedUp(t, c)
	require.Len(t, o.Refunds, 5)
	for i, r := range o.Refunds {
		require.Equal(t, fmt.Sprint("re_", i), r.ProviderRefundID)
		require.Equal(t, fsm.EventProcessing, r.Event)
	}
}

func TestLookupShowsDisputes(t *testing.T) {
	t.Parallel()
	took := payment.MovementReport{Kind: payment.MovementChargeback, Dispute: "dp_1", ID: "txn_1", Money: *euros(1999), At: began.Add(6 * time.Second)}
	back := payment.MovementReport{Kind: payment.MovementChargebackReversal, Dispute: "dp_1", ID: "txn_2", Money: *euros(1999), At: began.Add(7 * time.Second)}
	undated := took
	undated.ID, undated.At = "", time.Time{}
	for name, test := range map[string]struct {
		dispute object
		state   fsm.DisputeState
		moved   []payment.MovementReport
	}{
		"inquiry":                     {disputed("warning_needs_response"), fsm.DisputeWarning, nil},
		"taken":                       {disputed("needs_response", withdrawn()), fsm.DisputeOpen, []payment.MovementReport{took}},
		"under review":                {disputed("under_review", withdrawn()), fsm.DisputeUnderReview, []payment.MovementReport{took}},
		"won":                         {disputed("won", reinstated(), withdrawn()), fsm.DisputeWon, []payment.MovementReport{took, back}},
		"lost":                        {disputed("lost", withdrawn()), fsm.DisputeLost, []payment.MovementReport{took}},
		"lost, as its webhook has it": {disputed("lost"), fsm.DisputeLost, []payment.MovementReport{undated}},
		"resolved beforehand":         {disputed("prevented", withdrawn()), fsm.DisputeAccepted, []payment.MovementReport{took}},
		"blocked beforehand":          {disputed("prevented"), fsm.DisputeWon, nil},
		"of the future":               {disputed("some_day", withdrawn()), "", []payment.MovementReport{took}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, f, seen := holding(t, "succeeded")
			f.intents["pi_1"].disputes = []object{test.dispute}
			o := lookedUp(t, c)
			require.Equal(t, test.moved, o.Movements)
			var told []payment.DisputeReport
			if test.state != "" {
				told = []payment.DisputeReport{{
					ProviderID: "dp_1", Status: test.state, Reason: "fraudulent", Money: euros(1999), DueBy: began.Add(24 * time.Hour),
				}}
			}
			require.Equal(t, told, o.Disputes)
			<-seen
			require.Equal(t, "GET /v1/disputes?limit=100&payment_intent=pi_1", (<-seen).line)
			require.Empty(t, seen)
		})
	}
}

// An uncaptured payment has no refunds and no disputes, so nothing more is looked up.
func TestLookupOfAHoldIsOneCall(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"requires_capture", "processing", "canceled", "requires_payment_method"} {
		c, f, seen := holding(t, status)
		f.intents["pi_1"].received, f.intents["pi_1"].disputes = 0, []object{disputed("lost")}
		f.refunds = []*refund{{id: "re_1", intent: "pi_1", currency: "eur", status: "succeeded", amount: 500}}
		o := lookedUp(t, c)
		require.Empty(t, o.Refunds, status)
		require.Empty(t, o.Movements, status)
		<-seen
		require.Empty(t, seen, status)
	}
}

// A restricted key gets the payment's state without the objects that it may not read.
func TestLookupByARestrictedKey(t *testing.T) {
	t.Parallel()
	c, f, _ := holding(t, "succeeded")
	f.restricted = true
	o := lookedUp(t, c)
	require.Equal(t, fsm.EventSucceeded, o.Event)
	require.Equal(t, []string{"ch_1"}, o.References)

	c, f, _ = holding(t, "succeeded")
	f.noDisputes, f.intents["pi_1"].disputes = true, []object{disputed("lost")}
	f.refunds = []*refund{{id: "re_1", intent: "pi_1", currency: "eur", status: "succeeded", amount: 500}}
	o = lookedUp(t, c)
	require.Len(t, o.Refunds, 1)
	require.Empty(t, o.Movements)
}

// A failed list makes the lookup fail. It must not return a payment without disputes.
func TestLookupWithoutAListOfDisputes(t *testing.T) {
	t.Parallel()
	for status, body := range map[int]string{
		http.StatusInternalServerError: ``, http.StatusOK: `{}`,
		http.StatusNotFound: `{"error":{"type":"invalid_request_error","code":"resource_missing"}}`,
	} {
		_, f, _ := holding(t, "succeeded")
		f.intents["pi_1"].disputes = []object{disputed("lost")}
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/disputes" {
				w.WriteHeader(status)
				_, _ = w.Write([]byte(body))
				return
			}
			f.ServeHTTP(w, r)
		}))
		_, err := c.Lookup(t.Context(), "pi_1")
		require.Error(t, err)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	}
}
