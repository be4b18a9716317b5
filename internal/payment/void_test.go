package payment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// What is told of a hold while the provider is being asked for one may be younger
// than its answer.
func TestAHoldThatOvertakesAnAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	p := &answering{}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_decline").ID
	r.say(t, id, webhooks.KindAuthorized)
	p.lookup = func() (payment.Outcome, error) {
		r.say(t, id, webhooks.KindAuthorized)
		return payment.Outcome{News: fsm.NewsFailed}, nil
	}
	r.recheck(t, id)
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []payment.AttemptID{id}, due)

	p.lookup, p.cancel = says(fsm.NewsAuthorized), says(fsm.NewsFailed)
	r.recheck(t, id)
	require.EqualValues(t, 1, p.cancels.Load())
	require.Nil(t, r.attempt(t, id).NextCheckAt)
	require.Empty(t, r.discrepancies(t, id))
}

// A provider says the same again under a key that it knows: each hold is given up
// under another.
func TestEachHoldIsGivenUpUnderAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	p := &answering{lookup: says(fsm.NewsAuthorized), cancel: says(fsm.NewsFailed)}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.held(t, "A-1").ID
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	keys := map[string]bool{*p.key.Load(): true}
	for range 3 {
		r.say(t, id, webhooks.KindAuthorized)
		r.recheck(t, id)
		keys[*p.key.Load()] = true
	}
	require.EqualValues(t, 4, p.cancels.Load())
	require.Len(t, keys, 4)
	require.Empty(t, r.discrepancies(t, id))
}
