package e2e_test

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// heldMethod is a method whose charges the test lets through, see dam.
const heldMethod = "tok_twice"

// dam stands between the shop and the provider. It keeps the charges of one method
// until the test lets their attempt go, so that a payment is under way for as long
// as the test needs it to be.
type dam struct {
	*faults.HTTP

	mu   sync.Mutex
	open map[string]chan struct{}
}

func newDam(t *testing.T, provider string) *dam {
	t.Helper()
	d := &dam{open: map[string]chan struct{}{}}
	d.HTTP = faults.NewHTTP(t, provider, d.keep)
	return d
}

func (d *dam) gate(attempt string) chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open[attempt] == nil {
		d.open[attempt] = make(chan struct{})
	}
	return d.open[attempt]
}

// release lets the charges of an order's attempts go.
func (s *demoShop) release(t *testing.T, order string) {
	t.Helper()
	for _, attempt := range s.attemptsOf(t, order) {
		close(s.dam.gate(attempt))
	}
}

func (d *dam) keep(on faults.Way) faults.Way {
	return func(r *faults.Request) *faults.Response {
		var charge struct {
			Reference string `json:"reference"`
			Token     string `json:"token"`
		}
		if r.Method == http.MethodPost && r.URL.Path == "/v1/charges" && json.Unmarshal(r.Body, &charge) == nil && charge.Token == heldMethod {
			select {
			case <-d.gate(charge.Reference):
			case <-r.Context().Done(): // it has not arrived
				return nil
			}
		}
		return on(r)
	}
}
