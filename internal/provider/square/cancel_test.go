package square_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// keyed returns a charge with its operation's key.
func keyed(ch gateway.Charge) gateway.Charge {
	o := payment.Operation{AttemptID: ch.Attempt, Kind: payment.OperationCharge}
	ch.IdempotencyKey = o.Key()
	return ch
}

func byKey(ch gateway.Charge, quiet time.Duration) gateway.Cancel {
	return gateway.Cancel{Attempt: ch.Attempt, IdempotencyKey: "k-cancel", Permit: permit(), Quiet: quiet}
}

var over = gateway.Outcome{Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")}

// A payment whose answer was lost has no id, so it is cancelled by the key of its charge.
func TestAPaymentWithoutAnIDIsCancelledByItsKey(t *testing.T) {
	t.Parallel()
	c, f, seen := described(t)
	ch := keyed(manual())
	held := charged(t, c, ch)
	<-seen
	o, err := c.Cancel(t.Context(), byKey(ch, 2*time.Minute))
	require.NoError(t, err)
	require.Equal(t, over, o)
	require.Equal(t, "CANCELED", f.payments[held.ProviderPaymentID]["status"])
	sent := <-seen
	require.Equal(t, "POST /v2/payments/cancel", sent.line)
	require.JSONEq(t, `{"idempotency_key":"`+ch.IdempotencyKey+`"}`, sent.body)
	require.Equal(t, strings.ReplaceAll(ch.Attempt.String(), "-", "")+"-charge-0", ch.IdempotencyKey)
	require.Empty(t, seen)
}

// A charge that never arrived has created no payment, but a charge that was sent a moment ago may still arrive.
func TestACancelByKeyOfNothing(t *testing.T) {
	t.Parallel()
	c, _, _ := described(t)
	ch := keyed(manual())
	o, err := c.Cancel(t.Context(), byKey(ch, 2*time.Minute))
	require.NoError(t, err)
	require.Equal(t, over, o)
	o, err = c.Cancel(t.Context(), byKey(ch, 2*time.Minute-1))
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventProcessing}, o)
}

// A refusal, such as for a completed payment, does not end the payment. Neither does an unreadable answer.
func TestACancelByKeyThatIsRefusedLeavesItOpen(t *testing.T) {
	t.Parallel()
	c, f, _ := described(t)
	ch := keyed(charge(cardOK))
	paid := charged(t, c, ch)
	_, err := c.Cancel(t.Context(), byKey(ch, time.Hour))
	unknown(t, err)
	require.ErrorContains(t, err, "BAD_REQUEST")
	require.Equal(t, "COMPLETED", f.payments[paid.ProviderPaymentID]["status"])
	for status, body := range map[int]string{
		http.StatusUnauthorized: `{"errors":[{"category":"AUTHENTICATION_ERROR","code":"UNAUTHORIZED"}]}`, http.StatusBadGateway: `<html>`, http.StatusOK: `[]`,
	} {
		_, err := says(t, status, body).Cancel(t.Context(), byKey(ch, time.Hour))
		unknown(t, err)
	}
}

func TestACancelByKeyAsksItsPermit(t *testing.T) {
	t.Parallel()
	c, _, seen := described(t)
	cl := byKey(keyed(manual()), time.Hour)
	cl.Permit = gateway.NewPermit(time.Now(), 0, time.Now)
	_, err := c.Cancel(t.Context(), cl)
	require.ErrorIs(t, err, gateway.ErrPermitEnded)
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.Empty(t, seen)
}
