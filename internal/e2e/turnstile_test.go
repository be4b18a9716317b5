package e2e_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// place says where on its way a command to the provider is held.
type place string

const (
	nowhere   place = ""
	onTheWay  place = "on its way" // it arrives when it is let go
	lost      place = "lost"       // it never arrives
	onTheBack place = "answered"   // the provider has done it
)

// turnstile stands between services and the provider and holds all commands at
// once, while a gate holds one. A provider works on when the one who asked has
// died.
type turnstile struct {
	*httptest.Server
	ctx      context.Context
	provider string
	held     atomic.Int64

	mu   sync.Mutex
	at   place
	free chan struct{}
}

func newTurnstile(t *testing.T, provider string) *turnstile {
	t.Helper()
	s := &turnstile{ctx: t.Context(), provider: provider, free: make(chan struct{})}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.letGo()
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// hold holds every command from now on.
func (s *turnstile) hold(at place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held.Store(0)
	s.at, s.free = at, make(chan struct{})
}

// open holds no further command; what is held stays held.
func (s *turnstile) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = nowhere
}

// letGo lets what is held go on.
func (s *turnstile) letGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = nowhere
	select {
	case <-s.free:
	default:
		close(s.free)
	}
}

func (s *turnstile) way() (place, chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at, s.free
}

func (s *turnstile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	at, free := s.way()
	if r.Method != http.MethodPost {
		at = nowhere
	}
	if at == onTheWay || at == lost {
		s.held.Add(1)
		<-free
	}
	if at == lost {
		panic(http.ErrAbortHandler)
	}
	status, text := forward(s.ctx, r, s.provider, body)
	if at == onTheBack {
		s.held.Add(1)
		<-free
	}
	if status == http.StatusBadGateway {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(status)
	_, _ = w.Write(text)
}
