package braintree_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/braintree"
)

func cancel(t *testing.T, c *braintree.Client, id string) gateway.Outcome {
	t.Helper()
	o, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: id, IdempotencyKey: "k-cancel-0", Permit: permit()})
	require.NoError(t, err)
	return o
}

// A void would undo the capture of an unsettled transaction, so it is not sent.
func TestACapturedPaymentIsNotVoided(t *testing.T) {
	t.Parallel()
	f := serving()
	f.slow = true
	c, got := serve(t, f)
	paid := charged(t, c, charge(good))
	lines(got)
	o := cancel(t, c, paid.ProviderPaymentID)
	paid.Refused = true
	require.Equal(t, paid, o)
	require.Equal(t, []string{"GET " + base + "/transactions/" + paid.ProviderPaymentID}, lines(got))
	require.Equal(t, "submitted_for_settlement", f.transactions[paid.ProviderPaymentID].status)
}

// If the payment is captured between the lookup and the void, the outcome reports that the void undid the capture.
func TestACaptureThatIsVoidedIsUndone(t *testing.T) {
	t.Parallel()
	f := serving()
	f.before = func(line string, f *fake) {
		for _, one := range f.transactions {
			if strings.HasSuffix(line, "/void") && one.status == "authorized" {
				one.status = "submitted_for_settlement"
			}
		}
	}
	c, got := serve(t, f)
	hold := held(t, c)
	o := cancel(t, c, hold.ProviderPaymentID)
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventFailed, Payee: "shop_eur", ProviderPaymentID: hold.ProviderPaymentID, References: hold.References, Reverses: true, Failure: payment.NewFailure("canceled", ""),
	}, o)
	for range 2 {
		<-got
	}
	require.JSONEq(t, `{"transaction":{"api_request_key":"k-cancel-0"}}`, (<-got).body)
}

// A refused void leaves the payment unchanged.
func TestAVoidThatIsRefusedTellsHowThePaymentStands(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]gateway.Outcome{
		"settled":     {Event: fsm.EventSucceeded, Refused: true, Money: new(euro(1999))},
		"authorizing": {Event: fsm.EventProcessing, Refused: true},
		"voided":      {Event: fsm.EventFailed, Reverses: true, Failure: payment.NewFailure("canceled", "")},
	} {
		f := serving()
		f.before = func(line string, f *fake) {
			for _, one := range f.transactions {
				if strings.HasSuffix(line, "/void") {
					one.status = status
				}
			}
		}
		c, _ := serve(t, f)
		hold := held(t, c)
		want.ProviderPaymentID, want.References, want.Payee = hold.ProviderPaymentID, hold.References, "shop_eur"
		require.Equal(t, want, cancel(t, c, hold.ProviderPaymentID), status)
	}
}

// A repeated capture without a key is refused if the first succeeded and its answer was lost.
func TestACaptureThatWasMadeIsNotRefused(t *testing.T) {
	t.Parallel()
	f := serving()
	c, got := serve(t, f)
	c.Keyless = true
	hold := held(t, c)
	for range 2 {
		o, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: hold.ProviderPaymentID, Money: euro(500), IdempotencyKey: "k-capture-0", Permit: permit()})
		require.NoError(t, err)
		require.False(t, o.Refused)
		require.Equal(t, euro(500), *o.Money)
	}
	<-got
	require.JSONEq(t, `{"transaction":{"amount":"5.00"}}`, (<-got).body)
}

// The void of a merchant without keys has no body.
func TestAVoidWithoutAKeyHasNoBody(t *testing.T) {
	t.Parallel()
	c, got := serve(t, serving())
	c.Keyless = true
	require.Equal(t, fsm.EventFailed, cancel(t, c, held(t, c).ProviderPaymentID).Event)
	for range 2 {
		<-got
	}
	require.Empty(t, (<-got).body)
}

func refundOf(id string) gateway.RefundCall {
	return gateway.RefundCall{
		Refund: payment.RefundID(uuid.Must(uuid.NewV7())), ProviderPaymentID: id, Money: euro(700), Left: euro(1999), Reason: "He shouted.",
		IdempotencyKey: uuid.NewString() + "-refund-0", Permit: permit(),
	}
}

func TestARefundBearsOurID(t *testing.T) {
	t.Parallel()
	f := serving()
	c, got := serve(t, f)
	paid := charged(t, c, charge(good))
	r := refundOf(paid.ProviderPaymentID)
	o, err := c.Refund(t.Context(), r)
	require.NoError(t, err)
	want := gateway.RefundOutcome{
		Event: fsm.EventProcessing, ProviderRefundID: o.ProviderRefundID, ProviderPaymentID: paid.ProviderPaymentID, Reference: r.Refund.String(), Money: new(euro(700)),
	}
	require.Equal(t, want, o)
	for range 2 {
		<-got
	}
	sent := <-got
	require.Equal(t, "POST "+base+"/transactions/"+paid.ProviderPaymentID+"/refund", sent.line)
	require.JSONEq(t, `{"transaction":{"amount":"7.00","order_id":"`+r.Refund.String()+`","api_request_key":"`+r.IdempotencyKey+`"}}`, sent.body)

	f.transactions[o.ProviderRefundID].status = "settled"
	want.Event = fsm.EventSucceeded
	alone, err := c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: o.ProviderRefundID})
	require.NoError(t, err)
	require.Equal(t, want, alone)
}

// A refund whose answer was lost is searched for before it is sent again, so it is made once, with a key or without.
func TestALostRefundIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	for _, keyless := range []bool{false, true} {
		f := serving()
		f.keyless = keyless
		c, got := serve(t, f)
		c.Keyless = keyless
		paid := charged(t, c, charge(good))
		lost, _ := serve(t, losing(f, "POST "+base+"/transactions/"+paid.ProviderPaymentID+"/refund"))
		lost.Keyless = keyless
		r := refundOf(paid.ProviderPaymentID)
		_, err := lost.Refund(t.Context(), r)
		require.Error(t, err)
		require.NotErrorIs(t, err, gateway.ErrNotSent)
		lines(got)
		again, err := c.Refund(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, fsm.EventProcessing, again.Event)
		for _, line := range lines(got) {
			require.True(t, strings.HasPrefix(line, "GET "), line)
		}
		require.Equal(t, []string{again.ProviderRefundID}, f.transactions[paid.ProviderPaymentID].refunds)
		found, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: r.Refund, ProviderPaymentID: paid.ProviderPaymentID})
		require.NoError(t, err)
		require.Equal(t, again, found)
	}
}

// A payment that Braintree does not have, as with the keys of another merchant, is no proof that it was not refunded.
func TestARefundOfAPaymentThatIsMissingIsOpen(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, serving())
	_, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: "bt000009"})
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// Braintree refunds nothing before the settlement begins, so nothing is sent, and the refund can be tried again.
func TestNothingIsRefundedBeforeItSettles(t *testing.T) {
	t.Parallel()
	f := serving()
	f.slow = true
	c, got := serve(t, f)
	paid := charged(t, c, charge(good))
	lines(got)
	r := refundOf(paid.ProviderPaymentID)
	_, err := c.Refund(t.Context(), r)
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.ErrorIs(t, err, gateway.ErrInconclusive)
	require.Equal(t, []string{"GET " + base + "/transactions/" + paid.ProviderPaymentID}, lines(got))
	f.transactions[paid.ProviderPaymentID].status = "settling"
	o, err := c.Refund(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, fsm.EventProcessing, o.Event)
}

// If the payment or one of its refunds can't be looked up first, nothing is refunded.
func TestARefundIsLookedForFirst(t *testing.T) {
	t.Parallel()
	f := serving()
	c, got := serve(t, f)
	paid := charged(t, c, charge(good))
	first, err := c.Refund(t.Context(), refundOf(paid.ProviderPaymentID))
	require.NoError(t, err)
	delete(f.transactions, first.ProviderRefundID)
	lines(got)
	_, err = c.Refund(t.Context(), refundOf(paid.ProviderPaymentID))
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	require.Len(t, lines(got), 2)
	_, err = answers(t, http.StatusBadGateway, "").Refund(t.Context(), refundOf("bt000001"))
	require.ErrorIs(t, err, gateway.ErrNotSent)
}

func TestHowARefundStands(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]gateway.RefundOutcome{
		"submitted_for_settlement": {Event: fsm.EventProcessing},
		"settling":                 {Event: fsm.EventProcessing},
		"settlement_pending":       {Event: fsm.EventProcessing},
		"marinating":               {Event: fsm.EventProcessing},
		"settlement_confirmed":     {Event: fsm.EventSucceeded},
		"settled":                  {Event: fsm.EventSucceeded},
		"settlement_declined":      {Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "settlement_declined")},
		"processor_declined":       {Event: fsm.EventFailed, Failure: payment.NewFailure("card_declined", "2000")},
		"voided":                   {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")},
	} {
		one := &transaction{id: "bt2", kind: "credit", status: status, of: "bt1", amount: 700, response: "2000"}
		o, err := answers(t, http.StatusOK, one.xml()).LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "bt2"})
		require.NoError(t, err)
		want.ProviderRefundID, want.ProviderPaymentID, want.Money = "bt2", "bt1", new(euro(700))
		require.Equal(t, want, o, status)
	}
	sale := &transaction{id: "bt1", kind: "sale", status: "settled", amount: 700}
	_, err := answers(t, http.StatusOK, sale.xml()).LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "bt1"})
	require.Error(t, err, "a payment is no refund")
}
