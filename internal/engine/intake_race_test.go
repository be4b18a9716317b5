package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// The same event ×50 at once (Pinelab vendure-plugins #620; pay-rails/pay #371).
// Two processes: dedupe is a constraint, not a look before an insert (convoy
// #2747).
func intakeSameEventFiftyTimesAtOnce(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	second := r.another(t, nil)
	for round := range 10 {
		id := r.paid(t, payment.OrderID(fmt.Sprintf("A-%d", round)), "tok_never").ID
		e := event(webhooks.KindSucceeded, id.String())
		const copies = 50
		verdicts := make([]fsm.Verdict, copies)
		race(times(copies, func(i int) {
			got, err := []*service{r.service, second}[i%2].Intake(t.Context(), received([]byte("{}"), e))
			if err != nil {
				t.Error(err)
				return
			}
			verdicts[i] = got[0]
		})...)
		count := map[fsm.Verdict]int{}
		for _, v := range verdicts {
			count[v]++
		}
		require.Equal(t, map[fsm.Verdict]int{fsm.Applied: 1, payment.VerdictDuplicate: copies - 1}, count)
		require.Equal(t, []string{"payment_attempt.succeeded"}, r.updates(t, id))
		require.Equal(t, []string{"applied"}, r.verdicts(t, id))
	}
}

// Three different success events of one payment (pay-rails/pay #780, #1095).
func intakeThreeSuccessesAtOnce(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	second := r.another(t, nil)
	for round := range 20 {
		p := r.paid(t, payment.OrderID(fmt.Sprintf("A-%d", round)), "tok_never")
		race(times(3, func(i int) {
			s := []*service{r.service, second}[i%2]
			if _, err := s.Intake(t.Context(), received(nil, event(webhooks.KindSucceeded, p.ID.String()))); err != nil {
				t.Error(err)
			}
		})...)
		require.ElementsMatch(t, []string{"applied", "repeat", "repeat"}, r.verdicts(t, p.ID))
		require.Equal(t, []string{"payment_attempt.succeeded"}, r.updates(t, p.ID))
		require.Equal(t, p.Version+1, r.attempt(t, p.ID).Version)
	}
}

// A batch that is delivered again leaves every amount as it was (formance payments #750).
func intakeBatchDeliveredAgain(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	half := event(webhooks.KindReversed, id.String())
	half.Money = &webhooks.Money{Minor: 500, Currency: "EUR"}
	batch := []webhooks.Event{event(webhooks.KindAuthorized, id.String()), event(webhooks.KindSucceeded, id.String()), half}
	require.Equal(t, []fsm.Verdict{fsm.Applied, fsm.Applied, fsm.Applied}, r.tell(t, batch...))
	before := r.attempt(t, id)
	require.Equal(t, []fsm.Verdict{payment.VerdictDuplicate, payment.VerdictDuplicate, payment.VerdictDuplicate}, r.tell(t, batch...))
	for i := range batch {
		batch[i].ID += "-again"
	}
	require.Equal(t, []fsm.Verdict{fsm.Stale, fsm.Repeat, fsm.Repeat}, r.tell(t, batch...))
	after := r.attempt(t, id)
	after.ReadAt = before.ReadAt
	require.Equal(t, before, after)
	require.EqualValues(t, price-500, after.Held())
}
