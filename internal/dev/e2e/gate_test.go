package e2e_test

import (
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/paylatch/paylatch/internal/dev/faults"
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
// which were acknowledged and which found unproven.
type relay struct {
	*faults.HTTP

	mu       sync.Mutex
	acked    map[string]bool
	unproven map[string]int
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	r := &relay{acked: map[string]bool{}, unproven: map[string]int{}}
	r.HTTP = faults.NewHTTP(t, "", r.remember)
	return r
}

// shut lets no webhook through until the relay is mended.
func (r *relay) shut() { r.Break(faults.Answer(http.StatusServiceUnavailable, "")) }

func (r *relay) remember(on faults.Way) faults.Way {
	return func(q *faults.Request) *faults.Response {
		a := on(q)
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case a == nil:
		case a.Status == http.StatusOK:
			r.acked[q.Header.Get("Webhook-Id")] = true
		case a.Status == http.StatusUnauthorized:
			r.unproven[q.Header.Get("Webhook-Id")]++
		}
		return a
	}
}

// ack notes an acknowledgement that did not come through the relay.
func (r *relay) ack(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acked[id] = true
}

func (r *relay) acknowledged() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.acked))
}

// rejected counts the events that came with a signature which was not right, and their deliveries.
func (r *relay) rejected() (events, deliveries int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.unproven {
		deliveries += n
	}
	return len(r.unproven), deliveries
}
