package e2e_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/paylatch/paylatch/internal/faults"
)

// charges is the kind of request that charges at the sandbox.
const charges = "POST /v1/charges"

// hold holds the next command to the provider at a place of its way: (*faults.Hold).Before or After.
func (r *rig) hold(t *testing.T, place func(h *faults.Hold, on faults.Way) faults.Way) *faults.Hold {
	t.Helper()
	h := faults.NewHold(t)
	r.gate.Break(faults.When(faults.First(faults.Commands), func(on faults.Way) faults.Way { return place(h, on) }))
	return h
}

// await waits for a call to be held.
func await(t *testing.T, h *faults.Hold) {
	t.Helper()
	within(t, "a call", h.Reached())
}

// relay takes the sandbox's webhooks to whichever service is up, and remembers
// which were acknowledged.
type relay struct {
	*faults.HTTP

	mu    sync.Mutex
	acked map[string]bool
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	r := &relay{acked: map[string]bool{}}
	r.HTTP = faults.NewHTTP(t, "", r.remember)
	return r
}

// shut lets no webhook through until the relay is mended.
func (r *relay) shut() { r.Break(faults.Answer(http.StatusServiceUnavailable, "")) }

func (r *relay) remember(on faults.Way) faults.Way {
	return func(q *faults.Request) *faults.Response {
		a := on(q)
		if a != nil && a.Status == http.StatusOK {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.acked[q.Header.Get("Webhook-Id")] = true
		}
		return a
	}
}

func (r *relay) acknowledged() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	for id := range r.acked {
		ids = append(ids, id)
	}
	return ids
}
