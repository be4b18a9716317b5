package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"github.com/paylatch/paylatch/internal/platform/throttle"
)

const (
	// filesKept is how many files are left for the database, providers, operations and logs, if the process may open many; else
	// a quarter of all files.
	filesKept = 500
	// OperationsConnections is how many connections the operations' own address has.
	OperationsConnections = 32
	// networkPart is the part of all connections that one network has: one in so many.
	networkPart = 2
)

// Connections returns how many connections to serve at once, by the process's limit of open files; 0 for any number.
func Connections() int {
	files := openFiles()
	return max(0, files-min(filesKept, files/4))
}

// Limited is a listener that holds a limited number of connections. At the limit a new connection takes the place of the
// connection that has been idle longest. If all are busy, the new connection is closed. So idle connections never keep others
// out. One network may have half of all connections, unless the address is a trusted proxy's. It is safe for concurrent use.
type Limited struct {
	net.Listener

	most    int
	proxies []netip.Prefix

	mu       sync.Mutex
	conns    map[*limited]struct{}
	networks map[string]int
	// turn counts the changes of state: the lowest is idle longest.
	turn uint64
}

// Limit limits a listener to so many connections; 0 for any number. The proxies are the peers that speak for others.
func Limit(l net.Listener, most int, proxies []netip.Prefix) *Limited {
	return &Limited{Listener: l, most: most, proxies: proxies, conns: make(map[*limited]struct{}), networks: make(map[string]int)}
}

// limited is one connection.
type limited struct {
	net.Conn

	of      *Limited
	network string
	once    sync.Once

	// The listener's lock guards the following fields. A connection without a request, the first one included, is idle.
	busy  bool
	since uint64
}

// Accept implements net.Listener.
func (l *Limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err //nolint:wrapcheck // net/http compares it
		}
		c := &limited{Conn: conn, of: l, network: l.networkOf(conn.RemoteAddr())}
		old, ok := l.admit(c)
		if old != nil {
			_ = old.Close()
		}
		if ok {
			return c, nil
		}
		_ = conn.Close()
	}
}

// networkOf is the network of a peer, empty for a proxy's, which has no share.
func (l *Limited) networkOf(a net.Addr) string {
	peer, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return ""
	}
	for _, p := range l.proxies {
		if p.Contains(peer.Addr().Unmap()) {
			return ""
		}
	}
	return throttle.Network(peer.Addr())
}

// admit counts a connection. It returns the connection to replace, which the caller closes. It returns false if there is no
// place.
func (l *Limited) admit(c *limited) (old *limited, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := c.network != "" && l.networks[c.network] >= max(1, l.most/networkPart)
	if l.most > 0 && (full || len(l.conns) >= l.most) {
		if old = l.idlest(c.network, full); old == nil {
			return nil, false
		}
		l.forget(old)
	}
	l.turn++
	c.since = l.turn
	l.conns[c] = struct{}{}
	l.networks[c.network]++
	return old, true
}

// idlest is the connection that has been idle longest, of one network alone or of all. It needs the lock.
func (l *Limited) idlest(network string, alone bool) (found *limited) {
	for c := range l.conns {
		if !c.busy && (!alone || c.network == network) && (found == nil || c.since < found.since) {
			found = c
		}
	}
	return found
}

// forget needs the lock.
func (l *Limited) forget(c *limited) {
	if _, there := l.conns[c]; !there {
		return
	}
	delete(l.conns, c)
	if l.networks[c.network]--; l.networks[c.network] == 0 {
		delete(l.networks, c.network)
	}
}

// Close ends the connection.
func (c *limited) Close() (err error) {
	c.once.Do(func() {
		c.of.mu.Lock()
		c.of.forget(c)
		c.of.mu.Unlock()
		err = c.Conn.Close()
	})
	return err //nolint:wrapcheck // net/http compares it
}

// Watch has a server tell which connections are busy. It must be called before the server serves.
func (l *Limited) Watch(s *http.Server) {
	s.ConnState = func(conn net.Conn, state http.ConnState) {
		if secured, ok := conn.(*tls.Conn); ok {
			conn = secured.NetConn()
		}
		c, ok := conn.(*limited)
		if !ok {
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.turn++
		c.since, c.busy = l.turn, state == http.StateActive || state == http.StateHijacked
	}
}

// Open is how many connections are open.
func (l *Limited) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}
