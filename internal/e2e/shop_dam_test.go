package e2e_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// heldMethod is a method whose charges the test lets through, see dam.
const heldMethod = "tok_twice"

// dam stands between the shop and the provider. It keeps the charges of one method
// until the test lets their attempt go, so that a payment is under way for as long
// as the test needs it to be.
type dam struct {
	*httptest.Server
	ctx      context.Context
	provider string

	mu   sync.Mutex
	open map[string]chan struct{}
}

func newDam(t *testing.T, provider string) *dam {
	t.Helper()
	d := &dam{ctx: t.Context(), provider: provider, open: map[string]chan struct{}{}}
	d.Server = httptest.NewServer(d)
	t.Cleanup(func() {
		d.CloseClientConnections()
		d.Close()
	})
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

func (d *dam) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var charge struct {
		Reference string `json:"reference"`
		Token     string `json:"token"`
	}
	if r.Method == http.MethodPost && r.URL.Path == "/v1/charges" && json.Unmarshal(body, &charge) == nil && charge.Token == heldMethod {
		select {
		case <-d.gate(charge.Reference):
		case <-r.Context().Done(): // it has not arrived
			panic(http.ErrAbortHandler)
		}
	}
	status, text := forward(d.ctx, r, d.provider, body)
	if status == http.StatusBadGateway {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(status)
	_, _ = w.Write(text)
}
