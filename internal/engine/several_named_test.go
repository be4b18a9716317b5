package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// A provider without lookups receives captures and names each of them. Its webhooks report the results.
func TestCapturesByWebhook(t *testing.T) {
	t.Parallel()
	t.Run("each_counts_by_its_name", namedCount)
	t.Run("a_refusal_names_its_capture", namedRefusal)
	t.Run("a_capture_of_somebody_else_is_not_ours", namedForeign)
	t.Run("a_lost_one_is_known_by_our_name", namedLost)
	t.Run("one_fails_late", namedFailsLate)
	t.Run("the_last_one_has_the_rest_cancelled", namedLast)
	t.Run("a_cancel_that_is_refused", namedCancelRefused)
	t.Run("the_rest_expires", namedExpires)
	t.Run("one_capture_of_a_hold_is_its_total", namedOfOne)
	t.Run("a_refund_keeps_its_capture", namedRefund)
}

// newNamed is a provider without lookups that does nothing with what it receives.
func newNamed(t *testing.T) (*env, *received2) {
	t.Helper()
	p := &received2{}
	return newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider {
		p.fateful = fateful{Provider: of, dialect: byWebhook, next: callHeard, made: func() []movement { return nil }}
		return p
	}}), p
}

type received2 struct{ fateful }

// took delivers the webhook of a capture.
func (r *env) took(t *testing.T, id payment.AttemptID, name, ours string, minor int64) fsm.Verdict {
	t.Helper()
	e := event(webhooks.KindSucceeded, id.String())
	e.MovementID, e.CaptureReference, e.Money.Minor = name, ours, minor
	return r.tell(t, e)[0]
}

// captureOf is the capture with a number.
func (r *env) captureOf(t *testing.T, id payment.AttemptID, number int) payment.Operation {
	t.Helper()
	a := r.lockedAttempt(t, id)
	o := a.Operation(payment.OperationCapture, number)
	require.NotNil(t, o)
	return *o
}

func namedCount(t *testing.T) {
	t.Parallel()
	r, _ := newNamed(t)
	id := r.heldInParts(t)
	made := r.part(t, id, "one", 500)
	require.Zero(t, made.Captured, "it was only received")
	_, err := part(t.Context(), r.service, id, "two", 500, false)
	require.ErrorIs(t, err, payment.ErrBusy)
	one := r.captureOf(t, id, 0)
	require.Equal(t, captureName(one.Key()), one.ProviderRef)
	require.Equal(t, fsm.Applied, r.took(t, id, one.ProviderRef, "", 500))
	require.Equal(t, payment.OrderPaid, r.orderOf(t, "A-1").Status())

	r.part(t, id, "two", 500)
	require.Equal(t, fsm.Repeat, r.took(t, id, one.ProviderRef, "", 500), "the first one again")
	two := r.captureOf(t, id, 1)
	require.True(t, two.Open())
	require.Equal(t, fsm.Applied, r.took(t, id, two.ProviderRef, "", 500))
	require.EqualValues(t, 1000, r.attempt(t, id).Captured)
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

func (r *env) refusesCapture(t *testing.T, id payment.AttemptID, name string) {
	t.Helper()
	e := event(webhooks.KindAuthorized, id.String())
	e.Money, e.Refuses, e.MovementID = nil, webhooks.CommandCapture, name
	r.tell(t, e)
}

func namedRefusal(t *testing.T) {
	t.Parallel()
	r, _ := newNamed(t)
	id := r.heldInParts(t)
	r.part(t, id, "one", 500)
	one := r.captureOf(t, id, 0)
	r.took(t, id, one.ProviderRef, "", 500)
	r.part(t, id, "two", 700)
	two := r.captureOf(t, id, 1)
	r.refusesCapture(t, id, one.ProviderRef)
	require.True(t, r.lockedAttempt(t, id).Operations[2].Open(), "the refusal is of another one")
	r.refusesCapture(t, id, two.ProviderRef)
	require.Equal(t, fsm.OperationRefused, r.captureOf(t, id, 1).State)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.EqualValues(t, 500, r.attempt(t, id).Captured)
	a := r.lockedAttempt(t, id)
	require.EqualValues(t, price-500, a.Rest(), "it stays on hold")
}

func namedForeign(t *testing.T) {
	t.Parallel()
	r, _ := newNamed(t)
	id := r.heldInParts(t)
	r.part(t, id, "one", 500)
	r.took(t, id, r.captureOf(t, id, 0).ProviderRef, "", 500)
	r.part(t, id, "two", 700)
	require.Equal(t, fsm.Applied, r.took(t, id, "cap_dashboard", "", 700))
	require.EqualValues(t, 1200, r.attempt(t, id).Captured, "it is money all the same")
	two := r.captureOf(t, id, 1)
	require.True(t, two.Open())
	require.Equal(t, fsm.Conflict, r.took(t, id, two.ProviderRef, "", 700), "nobody has asked for so much")
	require.EqualValues(t, 1900, r.attempt(t, id).Captured)
	require.Equal(t, fsm.OperationDone, r.captureOf(t, id, 1).State)
	require.Equal(t, []string{"amount_mismatch"}, r.discrepancies(t, id))
}

func namedLost(t *testing.T) {
	t.Parallel()
	r, p := newNamed(t)
	id := r.heldInParts(t)
	r.part(t, id, "one", 500)
	r.took(t, id, r.captureOf(t, id, 0).ProviderRef, "", 500)
	p.next = callUnheard
	r.part(t, id, "two", 700)
	two := r.captureOf(t, id, 1)
	require.Empty(t, two.ProviderRef)
	require.Equal(t, fsm.Applied, r.took(t, id, "cap_2", two.Key(), 700))
	two = r.captureOf(t, id, 1)
	require.Equal(t, "cap_2", two.ProviderRef)
	require.Equal(t, fsm.OperationDone, two.State)
	require.Empty(t, r.discrepancies(t, id))
}

func namedFailsLate(t *testing.T) {
	t.Parallel()
	r, _ := newNamed(t)
	id := r.heldInParts(t)
	for i, minor := range []int64{500, 700} {
		r.part(t, id, string(rune('a'+i)), minor)
		r.took(t, id, r.captureOf(t, id, i).ProviderRef, "", minor)
	}
	e := event(webhooks.KindReversed, id.String())
	e.MovementID, e.Money = r.captureOf(t, id, 0).ProviderRef, &webhooks.Money{Minor: 500, Currency: "EUR"}
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, e))
	a := r.lockedAttempt(t, id)
	require.EqualValues(t, 700, a.Captured)
	require.EqualValues(t, price-1200, a.Rest(), "its money is on hold no more")
	require.Equal(t, []string{"payment_reversed"}, r.discrepancies(t, id))
	require.EqualValues(t, 700, a.Held())
}

// fails reports that what is on hold was released, or has expired.
func (r *env) fails(t *testing.T, id payment.AttemptID, code webhooks.FailureCode) {
	t.Helper()
	e := event(webhooks.KindFailed, id.String())
	e.FailureCode, e.OccurredAt = code, time.Now().Add(time.Hour)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, e))
}

func namedLast(t *testing.T) {
	t.Parallel()
	r, _ := newNamed(t)
	id := r.heldInParts(t)
	r.part(t, id, "one", 500)
	r.took(t, id, r.captureOf(t, id, 0).ProviderRef, "", 500)
	_, err := part(t.Context(), r.service, id, "last", 700, true)
	require.NoError(t, err)
	r.took(t, id, r.captureOf(t, id, 1).ProviderRef, "", 700)
	a := r.lockedAttempt(t, id)
	require.EqualValues(t, price-1200, a.Rest(), "no capture ends the hold")
	require.NotNil(t, a.OpenCancel())
	r.recheck(t, id)
	r.fails(t, id, webhooks.CodeCanceled)
	a = r.lockedAttempt(t, id)
	require.Zero(t, a.Rest())
	require.Nil(t, a.OpenCancel())
	require.True(t, a.Succeeded())
	require.EqualValues(t, 1200, a.Captured)
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

func namedCancelRefused(t *testing.T) {
	t.Parallel()
	r, _ := newNamed(t)
	id := r.heldInParts(t)
	r.part(t, id, "one", 500)
	r.took(t, id, r.captureOf(t, id, 0).ProviderRef, "", 500)
	_, err := r.Cancel(t.Context(), shop, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	e := event(webhooks.KindProcessing, id.String())
	e.Refuses = webhooks.CommandCancel
	r.tell(t, e)
	a := r.lockedAttempt(t, id)
	require.Nil(t, a.OpenCancel(), "a person decides")
	require.EqualValues(t, price-500, a.Rest())
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
}

func namedExpires(t *testing.T) {
	t.Parallel()
	r, _ := newNamed(t)
	id := r.heldInParts(t)
	r.part(t, id, "one", 500)
	r.took(t, id, r.captureOf(t, id, 0).ProviderRef, "", 500)
	r.part(t, id, "two", 700)
	r.fails(t, id, webhooks.CodeExpired)
	two := r.captureOf(t, id, 1)
	require.True(t, two.Open(), "its own webhook is to come")
	r.took(t, id, two.ProviderRef, "", 700)
	a := r.lockedAttempt(t, id)
	require.EqualValues(t, 1200, a.Captured)
	require.Zero(t, a.Rest())
	require.Empty(t, r.discrepancies(t, id))
	_, err := part(t.Context(), r.service, id, "three", 1, false)
	require.ErrorIs(t, err, payment.ErrNotCapturable)
}

// The name of a capture makes no second movement of a hold that is captured once: webhook and lookup state its total.
func namedOfOne(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	_, err := r.Confirm(t.Context(), shop, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
	require.NoError(t, err)
	version := r.attempt(t, id).Version
	require.Equal(t, fsm.Repeat, r.took(t, id, "cap_1", "", price))
	require.Equal(t, version, r.attempt(t, id).Version)
	require.EqualValues(t, price, r.attempt(t, id).Captured)
}

// refundsCaptures is a provider that refunds captures. It records the capture of each call, and answers none.
type refundsCaptures struct {
	received2

	refunded []string
}

func (p *refundsCaptures) Capabilities() payment.Capabilities {
	can := p.fateful.Capabilities()
	can.Refunds = payment.RefundsOfCaptures
	return can
}

func (p *refundsCaptures) Refund(_ context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	p.refunded = append(p.refunded, r.Capture)
	return gateway.RefundOutcome{}, errNoAnswer
}

// A refund without a name, made while there was one capture, stays a refund of this capture: it may be sent again after the next.
func namedRefund(t *testing.T) {
	t.Parallel()
	p := &refundsCaptures{}
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider {
		p.fateful = fateful{Provider: of, dialect: byWebhook, next: callHeard, made: func() []movement { return nil }}
		return p
	}})
	id := r.heldInParts(t)
	refund := func(key, named string, minor int64) error {
		_, err := r.Refund(t.Context(), shop, request("refund", key, ""), commands.CreateRefund{AttemptID: id, Amount: &minor, ProviderPaymentID: named})
		return err
	}
	r.part(t, id, "one", 500)
	one := r.captureOf(t, id, 0).ProviderRef
	r.took(t, id, one, "", 500)
	require.NoError(t, refund("without a name", "", 300))

	r.part(t, id, "two", 700)
	two := r.captureOf(t, id, 1).ProviderRef
	r.took(t, id, two, "", 700)
	r.exec(t, "UPDATE operations SET lease_until = now() - interval '1 s', next_at = now() WHERE kind = 'refund'")
	r.recheck(t, id)
	require.Equal(t, []string{one}, rows[string](t, r, "SELECT provider_payment_id FROM refunds"))
	require.GreaterOrEqual(t, len(p.refunded), 1)
	for _, capture := range p.refunded {
		require.Equal(t, one, capture)
	}
	require.ErrorIs(t, refund("another one", "", 100), payment.ErrPaymentAmbiguous)
	require.ErrorIs(t, refund("too much of one", one, 201), payment.ErrRefundExceeds)
	require.NoError(t, refund("of the second", two, 700))
	require.Equal(t, two, p.refunded[len(p.refunded)-1])
}
