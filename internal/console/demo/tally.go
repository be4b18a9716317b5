package demo

import (
	"net/http"
	"sync"
)

// maxTallied bounds for how many orders requests are counted; beyond it all counts begin anew.
const maxTallied = 10_000

// tally counts the requests to pay that have reached the shop's backend, by order. It is kept in memory: a restarted
// shop begins at zero, and the provider's ledger is the proof all the same.
type tally struct {
	mu sync.Mutex
	of map[string]int
}

func newTally() *tally { return &tally{of: make(map[string]int)} }

func (t *tally) add(order string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.of) >= maxTallied {
		clear(t.of)
	}
	t.of[order]++
}

func (t *tally) requests(order string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of[order]
}

// counted counts the requests of a handler that begins payments.
func (s *shop) counted(begin http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.tally.add(r.PathValue("order"))
		begin(w, r)
	}
}

// Charged is how many charges of the order the provider's ledger has.
func (c checkout) Charged() int {
	n := 0
	for _, entry := range c.Charges {
		if entry.Kind == "charge" {
			n++
		}
	}
	return n
}

// Newest is the id of the newest attempt; empty if there is none.
func (c checkout) Newest() string {
	if c.Attempt == nil {
		return ""
	}
	return c.Attempt.ID
}

// consolePath is the console's page of an attempt.
func consolePath(attempt string) string { return "/support/attempts/" + attempt }
