package e2e_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// atOnce runs fn n times in parallel, all of them let go by one barrier.
func atOnce(n int, fn func(i int) answer) []answer {
	answers := make([]answer, n)
	barrier := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-barrier
			answers[i] = fn(i)
		})
	}
	close(barrier)
	all.Wait()
	return answers
}

// oneCreated requires that one of the answers to copies of a request created something, and that the others are reused. A copy
// that was sent again after a refusal may get its own earlier result, as reused: then no answer has to be "created".
func oneCreated(t *testing.T, answers []answer) {
	t.Helper()
	results, repeated := map[string]int{}, false
	for _, a := range answers {
		results[a.header.Get("Idempotency-Result")]++
		repeated = repeated || a.repeated
	}
	if repeated && results["created"] == 0 {
		results["created"]++
		results["reused"]--
	}
	require.Equal(t, map[string]int{"created": 1, "reused": len(answers) - 1}, results)
}

// TestTheSameKeyAtOnce: one attempt, one charge, one answer, also when the
// copies reach two machines.
func TestTheSameKeyAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	callers := []client{r.serve().customer(), r.serve().customer()}
	for name, c := range map[string]struct {
		token    string
		machines int
	}{
		"one machine":                   {"tok_success", 1},
		"two machines":                  {"tok_success", 2},
		"two machines, webhook earlier": {"tok_webhook_first", 2},
		"two machines, decided later":   {"tok_async_success", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			order, key := callers[0].order(t), unique("pay")
			answers := atOnce(200, func(i int) answer { return callers[i%c.machines].pay(t.Context(), order, key, c.token) })
			id := answers[0].attempt(t, http.StatusCreated).ID
			for _, a := range answers {
				require.Equal(t, id, a.attempt(t, http.StatusCreated).ID)
				require.Equal(t, a.header.Get("Idempotency-Result") == "reused", a.header.Get("Idempotency-Replayed") == "true")
				require.Equal(t, key, a.header.Get("Idempotency-Key"))
			}
			oneCreated(t, answers)
			end := callers[0].settled(t, id)
			require.Equal(t, "succeeded", end.Status)
			require.Len(t, column[string](t, r, `SELECT attempt_id::text FROM payment_attempts WHERE order_id = $1`, order), 1)
			r.charged(t, id, 1999)
			r.told(t, end)
		})
	}
}

// TestTheSameOrderAtOnce: an order is created once, too.
func TestTheSameOrderAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	callers := []client{r.serve().customer(), r.serve().customer()}
	id, key := unique("o"), unique("key")
	answers := atOnce(100, func(i int) answer { return callers[i%2].createOrder(t.Context(), id, key) })
	for _, a := range answers {
		a.is(t, http.StatusCreated)
		require.Equal(t, string(answers[0].text), string(a.text))
	}
	oneCreated(t, answers)
}

// TestTwoTabs: two keys on one order make one live attempt, and the loser is
// shown it.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	callers := []client{r.serve().customer(), r.serve().customer()}
	var winners []string
	for range 100 {
		order := callers[0].order(t)
		keys := []string{unique("tab"), unique("tab")}
		answers := atOnce(2, func(i int) answer { return callers[i].pay(t.Context(), order, keys[i], "tok_success") })
		won, lost := answers[0], answers[1]
		if won.status != http.StatusCreated {
			won, lost = lost, won
		}
		winner := won.attempt(t, http.StatusCreated)
		won.result(t, "created")
		if lost.peekProblem().Code == "payment-in-progress" {
			p := lost.problem(t, http.StatusConflict, "payment-in-progress")
			require.Equal(t, winner.ID, p.Attempt.ID)
			require.Nil(t, p.Attempt.ClientRequestID, "another tab's key is its own")
		} else {
			lost.problem(t, http.StatusConflict, "order-already-paid")
		}
		winners = append(winners, winner.ID)
	}
	require.ElementsMatch(t, winners, column[string](t, r, `SELECT attempt_id::text FROM payment_attempts`))
	var charged []string
	for _, m := range r.movements(t) {
		charged = append(charged, m.Reference)
	}
	require.ElementsMatch(t, winners, charged)
}
