package postgres_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
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
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	socket := u.Query().Get("host") + "/.s.PGSQL." + u.Query().Get("port")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	u.Host, u.RawQuery = listener.Addr().String(), "sslmode=disable"
	r := &relay{url: u.String()}
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	t.Cleanup(func() { _ = listener.Close() })
	all.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("unix", socket)
			if err != nil {
				_ = near.Close()
				continue
			}
			alive := &atomic.Bool{}
			alive.Store(true)
			r.mu.Lock()
			r.alive = append(r.alive, alive)
			r.mu.Unlock()
			all.Go(func() { carry(far, near, alive) })
			all.Go(func() { carry(near, far, alive) })
		}
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

func carry(to, from net.Conn, alive *atomic.Bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	_, _ = io.Copy(lossy{to, alive}, from)
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
