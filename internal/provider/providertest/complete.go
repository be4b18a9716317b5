package providertest

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// Step is the second step of a payment.
type Step struct {
	// Token is the token of a charge that waits for a second step. Details complete that step; nil sends no details.
	Token   string
	Details json.RawMessage
	// Customer acts as the customer on the provider's page or in its script. It returns the details that the page
	// returns, or nil to use Details. Customer is nil if Details are sufficient.
	Customer func(t *testing.T, fake http.Handler, providerPaymentID string) json.RawMessage
	// Again is the token of a charge that has a third step after the second. It is empty if there is no such token.
	Again string
}

// waiting makes a charge that waits for its second step, and does the customer's part of that step.
func (r *rig) waiting() gateway.Completion {
	r.Helper()
	c := charge(r.Step.Token)
	o, err := r.Charge(r.Context(), c)
	require.NoError(r, err)
	require.Equal(r, fsm.EventActionRequired, o.Event)
	require.NotNil(r, o.NextAction)
	require.True(r, o.NextAction.Keepable())
	details := r.Step.Details
	if r.Step.Customer != nil {
		if returned := r.Step.Customer(r.T, r.fake, lookedUp(o)); returned != nil {
			details = returned
		}
	}
	return gateway.Completion{
		Attempt: c.Attempt, Order: c.Order, ProviderPaymentID: o.ProviderPaymentID, Container: o.Container, Money: c.Money, Capture: c.Capture, Details: details,
		IdempotencyKey: key(uuid.UUID(c.Attempt), "complete-0"), Permit: permit(),
	}
}

// completed completes a payment and asserts that it is paid.
func (r *rig) completed(c gateway.Completion) gateway.Outcome {
	r.Helper()
	o, err := r.Complete(r.Context(), c)
	require.NoError(r, err)
	require.False(r, o.Refused)
	require.Equal(r, fsm.EventSucceeded, o.Event)
	require.Equal(r, euro(price), *o.Money)
	return o
}

// complete tests that a payment is completed once under one key, even if two calls complete it. An adapter without a
// second step must send nothing.
func complete(r *rig) {
	if !r.can.Complete {
		_, err := r.Complete(r.Context(), gateway.Completion{ProviderPaymentID: r.NoPayment, Permit: permit()})
		require.Error(r, err)
		require.Empty(r, r.requests())
		return
	}
	require.NotEmpty(r, r.Step.Token, "the suite needs a token that waits for a second step")
	c := r.waiting()
	first := r.completed(c)
	require.Equal(r, first, r.completed(c), "the same call again says the same")
	if r.Step.Again == "" {
		return
	}
	o, err := r.Complete(r.Context(), r.again())
	require.NoError(r, err)
	require.Equal(r, fsm.EventActionRequired, o.Event)
	require.NotNil(r, o.NextAction)
}

// again returns the second step of a charge that has a third step.
func (r *rig) again() gateway.Completion {
	step := r.Step
	defer func() { r.Step = step }()
	r.Step.Token = r.Step.Again
	return r.waiting()
}

// completeLost tests a second step whose answer is lost. The same call again must find the step done and take the money
// once.
func completeLost(r *rig) {
	if !r.can.Complete {
		return
	}
	c := r.waiting()
	before := len(r.requests())
	r.loses()
	_, err := r.Complete(r.Context(), c)
	r.stepOpen(err, before, "lost")
	require.Len(r, r.requests(), before+1, "whether it is sent again is not the adapter's to decide")
	r.mends()
	r.completed(c)
	var keys []string
	for _, sent := range r.requests()[before:] {
		if r.command(sent) && (r.Keyless == nil || !r.Keyless(sent)) {
			keys = append(keys, r.Key(sent))
		}
	}
	for _, k := range keys {
		require.Equal(r, c.IdempotencyKey, k)
	}
}

// completeUnheard tests answers to a second step that do not report the payment.
func completeUnheard(r *rig) {
	if !r.can.Complete {
		return
	}
	c := r.waiting()
	for _, a := range []struct {
		status int
		body   string
	}{
		{200, ""},
		{200, "<html>It works!</html>"},
		{200, `{"id":"x_1","status":"succ`},
		{200, "null"},
		{200, "[]"},
		{200, "{}"},
		{201, "{}"},
		{204, ""},
		{400, "<html>Bad Request</html>"},
		{403, "<html>Forbidden</html>"},
		{404, "404 page not found"},
		{404, "{}"},
		{400, `{"error":null}`},
		{408, ""},
		{429, "later"},
		{500, ""},
		{502, `{"error":{"code":"x","type":"api_error","message":"x"}}`},
		{503, ""},
	} {
		before := len(r.requests())
		r.answers(a.status, a.body)
		_, err := r.Complete(r.Context(), c)
		r.stepOpen(err, before, a.body)
	}
}

// completeNotSent tests that a second step without a permit sends nothing.
func completeNotSent(r *rig) {
	if !r.can.Complete {
		return
	}
	c := r.waiting()
	before := len(r.requests())
	for _, l := range []gateway.Permit{ended(), {}} {
		c.Permit = l
		_, err := r.Complete(r.Context(), c)
		require.ErrorIs(r, err, gateway.ErrNotSent)
		require.ErrorIs(r, err, gateway.ErrPermitEnded)
	}
	require.Len(r, r.requests(), before)
}

// stepOpen asserts that an error leaves the second step's outcome unknown. If only reads were sent, the error must be
// gateway.ErrNotSent.
func (r *rig) stepOpen(err error, before int, why string) {
	r.Helper()
	require.Error(r, err, why)
	if !r.unsent(err, before) {
		r.unknown(err, "complete: "+why)
	}
}
