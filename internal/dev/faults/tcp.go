package faults

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// TCP is a proxy before anything that takes connections.
type TCP struct {
	listener net.Listener
	all      sync.WaitGroup
	trips    atomic.Int64

	mu          sync.Mutex
	network, to string
	lines       map[*line]bool
	thawed      chan struct{} // closed while nothing is frozen
	cut         int64         // of the next connections; 0 for no cut
	late        time.Duration // of the next connections
}

// NewTCP returns a proxy before an address of a network, tcp or unix. It ends with the test.
func NewTCP(tb TB, network, to string) *TCP {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &TCP{network: network, to: to, listener: l, lines: map[*line]bool{}, thawed: make(chan struct{})}
	close(p.thawed)
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	tb.Cleanup(func() {
		cancel()
		_ = l.Close()
		p.Reset()
		p.Thaw()
		p.all.Wait()
	})
	p.all.Go(func() { p.accept(ctx) })
	return p
}

// Address is its own, host and port.
func (p *TCP) Address() string { return p.listener.Addr().String() }

func (p *TCP) accept(ctx context.Context) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.all.Go(func() { p.connect(ctx, client) })
	}
}

// connect connects a client with the server.
func (p *TCP) connect(ctx context.Context, client net.Conn) {
	p.mu.Lock()
	network, to, late := p.network, p.to, p.late
	p.mu.Unlock()
	select {
	case <-time.After(late):
	case <-ctx.Done():
	}
	server, err := new(net.Dialer).DialContext(ctx, network, to)
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	l := &line{proxy: p, client: client, server: server, left: p.cut}
	p.lines[l] = true
	p.mu.Unlock()
	p.all.Go(func() { l.carry(server, client, l.sent) })
	p.all.Go(func() { l.carry(client, server, l.received) })
	if ctx.Err() != nil {
		l.close()
	}
}

// Lead leads new connections to another address. The present ones stay.
func (p *TCP) Lead(network, to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.network, p.to = network, to
}

// Freeze lets nothing through that arrives from now on, on old and new connections, no end of one either.
func (p *TCP) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.thawed:
		p.thawed = make(chan struct{})
	default:
	}
}

// Thaw lets the frozen bytes through, and all that follow.
func (p *TCP) Thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.thawed:
	default:
		close(p.thawed)
	}
}

// Blackhole makes the present connections die silently: sent bytes do not arrive in either direction, and neither side finds
// out. New connections work.
func (p *TCP) Blackhole() { p.each(func(l *line) { l.lost.Store(true) }) }

// Reset closes the connections that there are. New ones work.
func (p *TCP) Reset() { p.each(func(l *line) { l.close() }) }

// CutAfter closes each new connection when so many bytes of the server have come back on it, in the middle of its data; 0 for no
// cut.
func (p *TCP) CutAfter(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = bytes
}

// Late has each new connection wait before it reaches the server, as at a server that is too busy to take it at once.
func (p *TCP) Late(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = by
}

// Open is how many connections there are.
func (p *TCP) Open() int {
	n := 0
	p.each(func(*line) { n++ })
	return n
}

// Trips is how often clients have sent something after the server did.
func (p *TCP) Trips() int64 { return p.trips.Load() }

func (p *TCP) each(do func(l *line)) {
	p.mu.Lock()
	lines := make([]*line, 0, len(p.lines))
	for l := range p.lines {
		lines = append(lines, l)
	}
	p.mu.Unlock()
	for _, l := range lines {
		do(l)
	}
}

// wait waits while the proxy is frozen.
func (p *TCP) wait() {
	p.mu.Lock()
	thawed := p.thawed
	p.mu.Unlock()
	<-thawed
}

// line is one connection and its other half.
type line struct {
	proxy          *TCP
	client, server net.Conn
	lost           atomic.Bool
	// asked is whether the client was the last to send.
	asked atomic.Bool
	// left is how many bytes may come back; 0 for any number.
	left int64
}

func (l *line) close() {
	_, _ = l.client.Close(), l.server.Close()
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	delete(l.proxy.lines, l)
}

// carry passes on the bytes that pass returns, until one side closes.
func (l *line) carry(to io.Writer, from io.Reader, pass func(b []byte) ([]byte, error)) {
	defer l.close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		l.proxy.wait()
		if n > 0 {
			b, last := pass(buffer[:n])
			if !l.lost.Load() {
				if _, gone := to.Write(b); gone != nil {
					return
				}
			}
			err = errors.Join(err, last)
		}
		if err != nil {
			return
		}
	}
}

func (l *line) sent(b []byte) ([]byte, error) {
	if !l.asked.Swap(true) {
		l.proxy.trips.Add(1)
	}
	return b, nil
}

func (l *line) received(b []byte) ([]byte, error) {
	l.asked.Store(false)
	if l.left == 0 {
		return b, nil
	}
	if int64(len(b)) < l.left {
		l.left -= int64(len(b))
		return b, nil
	}
	return b[:l.left], io.EOF
}
