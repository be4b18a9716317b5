package e2e_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// challenged is an attempt whose customer has passed the provider's challenge, with the details that the customer brings back.
func (c client) challenged(t *testing.T) (attempt, string) {
	t.Helper()
	a := c.send(t.Context(), http.MethodPost, "/v1/orders/"+c.order(t)+"/pay",
		`{"payment_method":{"token":"tok_3ds"},"return_url":"https://shop.example/back"}`, "Idempotency-Key: "+unique("pay")).attempt(t, http.StatusCreated)
	require.Equal(t, "awaiting_customer", a.Stage)
	plain := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := plain.PostForm(a.NextAction.URL, url.Values{"decision": {"approve"}})
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	back, err := resp.Location()
	require.NoError(t, err)
	return a, `{"details":{"sandbox_result":"` + back.Query().Get("sandbox_result") + `"}}`
}

func (c client) complete(ctx context.Context, id, key, body string) answer {
	return c.send(ctx, http.MethodPost, "/v1/payment-attempts/"+id+"/complete", body, "Idempotency-Key: "+key)
}

// TestKilledDuringAComplete kills the service between the two commits of a second step. The reconciler of the next service ends
// the attempt, and so does a client that sends the same request again.
func TestKilledDuringAComplete(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(h *faults.Hold, on faults.Way) faults.Way{
		"before the provider got it": (*faults.Hold).Before,
		"after it charged":           (*faults.Hold).After,
	} {
		for _, by := range []string{"reconciler", "retry"} {
			t.Run(name+", ended by the "+by, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.hooks.shut()                              // the webhook would tell the outcome
				s := r.serve("PAYLATCH_RECONCILE_EVERY=1h") // a lookup under way would refuse the second step for now
				c := s.customer()
				a, body := c.challenged(t)
				held, key := r.hold(t, place), unique("complete")
				done := make(chan answer, 1)
				go func() { done <- client{base: c.base, token: c.token}.complete(t.Context(), a.ID, key, body) }()
				await(t, held)
				s.kill()
				said := <-done
				require.True(t, said.err != nil || said.peek().Stage != "final", "the service ended it before it was killed: %s", said.text)
				held.Free()
				r.leasesEnd(t)

				every := "PAYLATCH_RECONCILE_EVERY=100ms"
				if by == "retry" {
					every = "PAYLATCH_RECONCILE_EVERY=1h"
				}
				c = r.serve(every).customer()
				if by == "retry" {
					require.Equal(t, "succeeded", c.complete(t.Context(), a.ID, key, body).attempt(t, http.StatusOK).Status)
				}
				require.Equal(t, "succeeded", c.settled(t, a.ID).Status)
				r.charged(t, a.ID, 1999)
				again := c.complete(t.Context(), a.ID, key, body)
				require.Equal(t, "succeeded", again.attempt(t, http.StatusOK).Status)
				require.Equal(t, "reused", again.header.Get("Idempotency-Result"))
				c.complete(t.Context(), a.ID, unique("complete"), body).problem(t, http.StatusConflict, "attempt-not-completable")
				require.Empty(t, column[string](t, r, `SELECT kind FROM discrepancies`))
				require.Empty(t, column[string](t, r, `SELECT kind FROM sealed_requests`))
			})
		}
	}
}
