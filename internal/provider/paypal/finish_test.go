package paypal_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/paypal"
	"github.com/paylatch/paylatch/webhooks"
)

// approved returns a wallet's order that its customer has approved.
func approved(t *testing.T, f *fake, ch gateway.Charge) (*paypal.Client, gateway.Completion, <-chan seen) {
	t.Helper()
	c, got := serve(t, f)
	o := charged(t, c, ch)
	require.Equal(t, fsm.EventActionRequired, o.Event)
	require.Equal(t, "https://www.sandbox.paypal.com/checkoutnow?token="+o.Container, o.NextAction.URL)
	f.approve(o.Container)
	now, err := c.Lookup(t.Context(), o.Container)
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventActionRequired, Approved: true, Container: o.Container, Payee: shop, References: []string{ch.Attempt.String(), o.Container}}, now)
	<-got
	<-got
	return c, completion(ch, o.Container), got
}

func TestAnApprovedOrderIsFinishedOnce(t *testing.T) {
	t.Parallel()
	c, ch, got := approved(t, newFake(t), charge("paypal"))
	done := completed(t, c, ch)
	require.Equal(t, fsm.EventSucceeded, done.Event)
	require.Equal(t, euro(1999), *done.Money)
	require.Equal(t, ch.Container, done.Container)
	require.Equal(t, done.Movements[0].ID, done.ProviderPaymentID, "the capture is the payment")
	require.Equal(t, "GET /v2/checkout/orders/"+ch.Container+"?fields=payment_source", (<-got).line)
	sent := <-got
	require.Equal(t, "POST /v2/checkout/orders/"+ch.Container+"/capture", sent.line)
	require.Equal(t, ch.IdempotencyKey, sent.header.Get("PayPal-Request-Id"), "the key of another call is another")
	require.Equal(t, done, completed(t, c, ch), "the same again")

	ch.IdempotencyKey = "another"
	require.Equal(t, done, completed(t, c, ch), "it is finished already: how it stands counts")
}

func TestAnApprovedOrderIsAuthorisedForAManualCapture(t *testing.T) {
	t.Parallel()
	c, ch, got := approved(t, newFake(t), manual(charge("paypal")))
	held := completed(t, c, ch)
	require.Equal(t, fsm.EventAuthorized, held.Event)
	require.Equal(t, euro(1999), *held.Money)
	<-got // the result of 3-D Secure
	require.Equal(t, "POST /v2/checkout/orders/"+ch.Container+"/authorize", (<-got).line)
}

// A declined order stays approved at PayPal. It is cancelled, so that another method can't pay it afterwards.
func TestAFinishThatIsDeclinedIsSoft(t *testing.T) {
	t.Parallel()
	for issue, code := range map[string]webhooks.FailureCode{
		"INSTRUMENT_DECLINED": "card_declined", "TRANSACTION_REFUSED": "card_declined", "ORDER_EXPIRED": "expired",
		"COMPLIANCE_VIOLATION": "provider_rejected",
	} {
		f := newFake(t)
		c, ch, _ := approved(t, f, charge("paypal"))
		f.unwilling = issue
		o := completed(t, c, ch)
		require.Equal(t, gateway.Outcome{
			Event: fsm.EventSoftFailed, Container: ch.Container, Payee: shop, References: []string{ch.Attempt.String(), ch.Container}, Failure: payment.NewFailure(code, issue),
		}, o)
		over, err := c.Cancel(t.Context(), gateway.Cancel{Container: ch.Container, Permit: permit(), Quiet: time.Hour})
		require.NoError(t, err)
		require.Equal(t, fsm.EventFailed, over.Event)
	}
}

// PayPal may still be processing a request whose answer was lost. Until then, the cancel of an approved order does not
// end it.
func TestAnOrderThatMayBeBeingFinishedIsNotOver(t *testing.T) {
	t.Parallel()
	c, ch, _ := approved(t, newFake(t), charge("paypal"))
	for _, step := range []struct {
		quiet time.Duration
		want  gateway.Outcome
	}{
		{-30 * time.Second, gateway.Outcome{Event: fsm.EventActionRequired, Container: ch.Container, Payee: shop, References: []string{ch.Attempt.String(), ch.Container}}},
		{4 * time.Minute, gateway.Outcome{Event: fsm.EventActionRequired, Container: ch.Container, Payee: shop, References: []string{ch.Attempt.String(), ch.Container}}},
		{5 * time.Minute, gateway.Outcome{Event: fsm.EventFailed, Container: ch.Container, Payee: shop, References: []string{ch.Attempt.String(), ch.Container}, Failure: payment.NewFailure("canceled", "")}},
	} {
		got, err := c.Cancel(t.Context(), gateway.Cancel{Container: ch.Container, Permit: permit(), Quiet: step.quiet})
		require.NoError(t, err)
		require.Equal(t, step.want, got)
	}
}

// An error about the account is not a decline of the customer's method.
func TestAFinishThatIsNotAllowedSaysNothing(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		c := refuses(t, status, `{"name":"NOT_AUTHORIZED","details":[{"issue":"PERMISSION_DENIED"}]}`)
		_, err := c.Complete(t.Context(), completion(charge("paypal"), "5O190127TN364715T"))
		require.ErrorContains(t, err, "PERMISSION_DENIED")
		require.NotErrorIs(t, err, gateway.ErrNotSent)
	}
}

// Only the command is rejected, as after a change of the app's permissions.
func TestAFinishThatIsTurnedAwayIsNoDecline(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		f := newFake(t)
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/capture") {
				write(w, status, problem("NOT_AUTHORIZED", "m", "PERMISSION_DENIED"))
				return
			}
			f.ServeHTTP(w, r)
		}))
		ch := charge("paypal")
		id := charged(t, c, ch).Container
		f.approve(id)
		_, err := c.Complete(t.Context(), completion(ch, id))
		require.ErrorContains(t, err, "PERMISSION_DENIED")
		require.NotErrorIs(t, err, gateway.ErrNotSent)
	}
}

// The customer approves the order after PayPal refused to capture it, and before the lookup.
func TestAnApprovalThatFollowsARefusalCounts(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.ServeHTTP(w, r)
		if id, ok := strings.CutSuffix(r.URL.Path, "/capture"); ok {
			f.approve(id[strings.LastIndexByte(id, '/')+1:])
		}
	}))
	ch := charge("paypal")
	o, err := c.Complete(t.Context(), completion(ch, charged(t, c, ch).Container))
	require.NoError(t, err)
	require.Equal(t, fsm.EventActionRequired, o.Event)
	require.True(t, o.Approved)
	require.Nil(t, o.Failure)
}

func TestAFinishOfNobodysOrder(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	_, err := c.Complete(t.Context(), completion(charge("paypal"), "5O190127TN364715T"))
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
}

func TestAFinishAsksItsLicence(t *testing.T) {
	t.Parallel()
	c, ch, got := approved(t, newFake(t), charge("paypal"))
	ch.Permit = gateway.Permit{}
	_, err := c.Complete(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrPermitEnded)
	require.Empty(t, got)
}
