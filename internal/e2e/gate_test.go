package e2e_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// stop is a place on the way of a call where the test may hold it.
type stop struct {
	reached, release chan struct{}
}

func newStop() *stop { return &stop{make(chan struct{}), make(chan struct{})} }

func (s *stop) await(t *testing.T) {
	t.Helper()
	within(t, "a call", s.reached)
}

// gate stands between the service and the provider. What it forwards ends with
// the test and not with the caller: a provider works on when the one who asked
// has died.
type gate struct {
	*httptest.Server
	ctx      context.Context
	provider string
	charges  atomic.Int64
	// stuck lets every call hang.
	stuck atomic.Bool

	mu sync.Mutex
	// before holds the next command on its way to the provider, after its answer
	// on the way back.
	before, after *stop
}

func newGate(t *testing.T, provider string) *gate {
	t.Helper()
	g := &gate{ctx: t.Context(), provider: provider}
	g.Server = httptest.NewServer(g)
	t.Cleanup(func() {
		g.CloseClientConnections()
		g.Close()
	})
	return g
}

// hold arms the gate for one command. What is still held at the end of the test
// is let go.
func (g *gate) hold(t *testing.T, place **stop) *stop {
	t.Helper()
	s := newStop()
	g.mu.Lock()
	*place = s
	g.mu.Unlock()
	t.Cleanup(func() { s.free() })
	return s
}

func (s *stop) free() {
	select {
	case <-s.release:
	default:
		close(s.release)
	}
}

func (g *gate) take(place **stop) *stop {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := *place
	*place = nil
	return s
}

func (s *stop) pass() {
	if s != nil {
		close(s.reached)
		<-s.release
	}
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var before, after *stop
	if r.Method == http.MethodPost {
		if r.URL.Path == "/v1/charges" {
			g.charges.Add(1)
		}
		before, after = g.take(&g.before), g.take(&g.after)
	}
	if g.stuck.Load() {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	before.pass()
	status, text := forward(g.ctx, r, g.provider, body)
	after.pass()
	if status == http.StatusBadGateway {
		panic(http.ErrAbortHandler) // the provider said nothing either
	}
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func forward(ctx context.Context, r *http.Request, base string, body []byte) (status int, text []byte) {
	out, err := http.NewRequestWithContext(ctx, r.Method, base+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return http.StatusBadGateway, nil
	}
	out.Header = r.Header.Clone()
	a := exchange(out)
	if a.err != nil {
		return http.StatusBadGateway, nil
	}
	return a.status, a.text
}

// relay takes the sandbox's webhooks to whichever service is up, and remembers
// which were acknowledged.
type relay struct {
	*httptest.Server
	ctx    context.Context
	to     atomic.Pointer[string]
	closed atomic.Bool

	mu    sync.Mutex
	acked map[string]bool
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	r := &relay{ctx: t.Context(), acked: map[string]bool{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(func() {
		r.CloseClientConnections()
		r.Close()
	})
	return r
}

func (r *relay) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	to := r.to.Load()
	if to == nil || r.closed.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	body, _ := io.ReadAll(q.Body)
	status, _ := forward(r.ctx, q, *to, body)
	if status == http.StatusOK {
		r.mu.Lock()
		r.acked[q.Header.Get("Webhook-Id")] = true
		r.mu.Unlock()
	}
	w.WriteHeader(status)
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
