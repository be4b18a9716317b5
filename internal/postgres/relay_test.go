package postgres_test

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// relay is a way to a server on which connections die without a word: what is sent on
// one neither arrives nor comes back.
type relay struct {
	url string

	mu    sync.Mutex
	alive []*atomic.Bool
}

func newRelay(t *testing.T, dsn string) *relay {
	t.Helper()
	r := &relay{}
	r.url = proxy(t, dsn, "", func(client, server net.Conn) (toClient, toServer io.Writer) {
		alive := &atomic.Bool{}
		alive.Store(true)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.alive = append(r.alive, alive)
		return lossy{client, alive}, lossy{server, alive}
	})
	return r
}

// die ends the connections that there are.
func (r *relay) die() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, alive := range r.alive {
		alive.Store(false)
	}
}

type lossy struct {
	net.Conn

	alive *atomic.Bool
}

func (l lossy) Write(b []byte) (int, error) {
	if !l.alive.Load() {
		return len(b), nil
	}
	return l.Conn.Write(b)
}
