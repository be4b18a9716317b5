package checkout_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/checkout"
)

// held returns a payment that waits for its capture.
func held(t *testing.T, c *checkout.Client) (gateway.Charge, gateway.Outcome) {
	t.Helper()
	ch := charge(cardOK)
	ch.Capture = payment.CaptureManual
	o := charged(t, c, ch)
	require.Equal(t, fsm.EventAuthorized, o.Event)
	return ch, o
}

// An accepted action that is not executed yet is under way. The same command again finds it done.
func TestAnActionThatWaitsIsUnderWay(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, seen := serve(t, f)
	ch, o := held(t, c)
	<-seen
	f.mu.Lock()
	f.busy = true
	f.mu.Unlock()
	command := gateway.Capture{
		Attempt: ch.Attempt, ProviderPaymentID: o.ProviderPaymentID, Money: euro(700), IdempotencyKey: "0123-capture-0", Permit: permit(),
	}
	got, err := c.Capture(t.Context(), command)
	require.NoError(t, err)
	require.Regexp(t, "^act_", got.ProviderRef)
	require.Equal(t, gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: o.ProviderPaymentID, ProviderRef: got.ProviderRef}, got)
	sent := <-seen
	require.Equal(t, "POST /payments/"+o.ProviderPaymentID+"/captures", sent.line)
	require.Equal(t, "0123-capture-0", sent.header.Get("Cko-Idempotency-Key"))
	id := ch.Attempt.String()
	require.JSONEq(t, `{"amount":700,"capture_type":"Final","reference":"`+id+`","metadata":{"payment_attempt_id":"`+id+`"}}`, sent.body)

	f.mu.Lock()
	f.busy = false
	f.mu.Unlock()
	got, err = c.Capture(t.Context(), command)
	require.NoError(t, err)
	taken := euro(700)
	require.Equal(t, gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: o.ProviderPaymentID, ProviderRef: got.ProviderRef, Live: new(false), Money: &taken}, got)
}

// An accepted action must never be reported as not accepted.
func TestAnAcceptedActionWhosePaymentCannotBeReadIsUnderWay(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"action_id":"act_1"}`)
	}))
	waits := gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: "pay_1", ProviderRef: "act_1"}
	got, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "pay_1", Money: euro(700), Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, waits, got)
	got, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "pay_1", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, waits, got)
}

func TestARefundThatWaitsIsUnderWay(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, seen := serve(t, f)
	o := charged(t, c, charge(cardOK))
	_, err := c.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	for range 3 { // the charge, the payment and its disputes
		<-seen
	}
	f.mu.Lock()
	f.busy = true
	f.mu.Unlock()
	call := gateway.RefundCall{
		Refund: payment.RefundID(uuid.New()), Attempt: payment.AttemptID(uuid.New()), ProviderPaymentID: o.ProviderPaymentID, Money: euro(300),
		Reason: "Jane Doe sent it back", IdempotencyKey: "0123-refund", Permit: permit(),
	}
	got, err := c.Refund(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: got.ProviderRefundID}, got)
	require.Regexp(t, "^act_", got.ProviderRefundID)
	require.JSONEq(t, `{"amount":300,"reference":"`+call.Refund.String()+`",
		"metadata":{"refund_id":"`+call.Refund.String()+`","payment_attempt_id":"`+call.Attempt.String()+`"}}`, (<-seen).body)

	ref := gateway.RefundRef{Refund: call.Refund, ProviderRefundID: got.ProviderRefundID, ProviderPaymentID: o.ProviderPaymentID}
	_, err = c.LookupRefund(t.Context(), ref)
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment, "it is not among the payment's actions yet")
	f.mu.Lock()
	f.busy = false
	f.mu.Unlock()
	now, err := c.LookupRefund(t.Context(), ref)
	require.NoError(t, err)
	back := euro(300)
	require.Equal(t, gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: got.ProviderRefundID, Reference: call.Refund.String(), Money: &back}, now)
}

// A payment that waits for its customer can't be voided; it continues to wait.
func TestAVoidOfWhatIsNotHeldIsRefused(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake())
	o := charged(t, c, charge(cardRedirect))
	require.Equal(t, fsm.EventActionRequired, o.Event)
	require.Contains(t, o.NextAction.URL, o.ProviderPaymentID)
	got, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: "v", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventActionRequired, ProviderPaymentID: o.ProviderPaymentID, Live: new(false), Refused: true}, got)
}

// A rejected key is no evidence about an earlier call, which may have succeeded.
func TestAKeyThatIsTurnedAwayRefusesOneCall(t *testing.T) {
	t.Parallel()
	c := says(t, 401, "")
	r, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "pay_1", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, gateway.RefusedRefund("unauthorized"), r)
	_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "pay_1", Permit: permit()})
	unknown(t, err)
	_, err = c.Lookup(t.Context(), "pay_1")
	unknown(t, err)
	require.ErrorContains(t, err, "unauthorized")
}

// Only the command's key is rejected, as after a change of its permissions.
func TestACommandWhoseKeyIsTurnedAwayIsNotRefused(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cko-Request-Id", "b7f8a4a1")
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"id":"pay_1","status":"Authorized","amount":1,"currency":"EUR"}`)
	}))
	_, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "pay_1", Money: euro(1), Permit: permit()})
	unknown(t, err)
}

func TestARefundThatIsNotAllowedHasFailed(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]string{403: "forbidden", 404: "not_found"} {
		r, err := says(t, status, "").Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "pay_1", Permit: permit()})
		require.NoError(t, err)
		require.Equal(t, gateway.RefusedRefund(code), r)
	}
}

func TestFindBelievesOnlyItsOwnReference(t *testing.T) {
	t.Parallel()
	_, err := says(t, 200, `{"data":[{"id":"pay_1","reference":"another"}]}`).Find(t.Context(), payment.AttemptID(uuid.New()))
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
}

func TestFindAsksThePaymentItself(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, seen := serve(t, f.handler(f))
	ch := charge(cardDeclined)
	o := charged(t, c, ch)
	<-seen
	found, err := c.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, o, found)
	require.Equal(t, "GET /payments?limit=50&reference="+ch.Attempt.String()+"&skip=0", (<-seen).line)
	require.Equal(t, "GET /payments/"+o.ProviderPaymentID, (<-seen).line)
}
