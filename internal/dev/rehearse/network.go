package rehearse

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync/atomic"
	"time"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// network is the browser's proxy. It also reads https, by a certificate of its own: the browser of a rehearsal accepts any.
type network struct {
	// pays is a part of the host and path of the commands that the faults concern.
	pays string
	// arrived is how many of these commands have arrived since the last fault was set.
	arrived atomic.Int64

	faults  *faults.HTTP
	through *httputil.ReverseProxy
	tunnels *tunnels
	tls     *tls.Config
	address string
}

// headerTimeout bounds the wait for the head of a request.
const headerTimeout = time.Minute

// newNetwork serves a proxy until ctx ends.
func newNetwork(ctx context.Context, pays string, now func() time.Time) (*network, error) {
	certificate, err := anyHost(now())
	if err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	wire := &http.Transport{
		DisableCompression: true, MaxIdleConnsPerHost: -1,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // a test shop often signs its own certificate
	}
	n := &network{
		pays: pays, faults: faults.Forward(ctx, wire), address: l.Addr().String(),
		through: &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: wire, FlushInterval: -1, ErrorHandler: unreached},
		tunnels: &tunnels{conns: make(chan net.Conn), closed: make(chan struct{}), address: l.Addr()},
		tls:     &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	for _, s := range []struct {
		listener net.Listener
		handler  http.HandlerFunc
	}{{l, n.serve}, {n.tunnels, n.serveTunnel}} {
		server := &http.Server{Handler: s.handler, ReadHeaderTimeout: headerTimeout}
		go func() { _ = server.Serve(s.listener) }()
		context.AfterFunc(ctx, func() { _ = server.Close() })
	}
	return n, nil
}

// unreached closes the connection: a server that can't be reached is no response.
func unreached(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }

// breakBy sets the faults of the commands that pay.
func (n *network) breakBy(f ...faults.Fault) {
	n.arrived.Store(0)
	n.faults.Break(f...)
}

// serve handles a request with the address of its server, or a tunnel to one.
func (n *network) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		n.tunnel(w)
		return
	}
	r.Header.Del("Proxy-Connection")
	if n.concerns(r) {
		n.arrived.Add(1)
		n.faults.ServeHTTP(w, r)
		return
	}
	n.through.ServeHTTP(w, r)
}

func (n *network) concerns(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return strings.Contains(r.URL.Host+r.URL.Path, n.pays)
}

// tunnel serves the connection that the browser takes for its server's.
func (n *network) tunnel(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if _, err := conn.Write([]byte("HTTP/1.1 200 OK\r\n\r\n")); err != nil {
		_ = conn.Close()
		return
	}
	in := bufio.NewReader(conn)
	first, err := in.Peek(1)
	if err != nil {
		_ = conn.Close()
		return
	}
	const handshake = 0x16 // a tunnel without TLS carries a web socket
	var inner net.Conn = peeked{conn, in}
	scheme := "http"
	if first[0] == handshake {
		inner, scheme = tls.Server(inner, n.tls), "https"
	}
	n.tunnels.offer(tunnelled{inner, scheme})
}

// serveTunnel handles a request of a tunnel, which has only a path.
func (n *network) serveTunnel(w http.ResponseWriter, r *http.Request) {
	if c, ok := r.Context().Value(http.LocalAddrContextKey).(tunnelAddr); ok {
		r.URL.Scheme = c.scheme
	}
	r.URL.Host = r.Host
	n.serve(w, r)
}

// peeked is a connection after a look at its first byte.
type peeked struct {
	net.Conn

	in *bufio.Reader
}

func (c peeked) Read(b []byte) (int, error) { return c.in.Read(b) } //nolint:wrapcheck // io.EOF must stay

// tunnelled is a connection inside a tunnel. Its local address has the scheme, for the handler.
type tunnelled struct {
	net.Conn

	scheme string
}

func (c tunnelled) LocalAddr() net.Addr { return tunnelAddr{c.Conn.LocalAddr(), c.scheme} }

type tunnelAddr struct {
	net.Addr

	scheme string
}

// tunnels is the listener of the connections inside tunnels.
type tunnels struct {
	conns   chan net.Conn
	closed  chan struct{}
	ended   atomic.Bool
	address net.Addr
}

func (t *tunnels) offer(c net.Conn) {
	select {
	case t.conns <- c:
	case <-t.closed:
		_ = c.Close()
	}
}

// Accept implements net.Listener.
func (t *tunnels) Accept() (net.Conn, error) {
	select {
	case c := <-t.conns:
		return c, nil
	case <-t.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (t *tunnels) Close() error {
	if t.ended.CompareAndSwap(false, true) {
		close(t.closed)
	}
	return nil
}

// Addr implements net.Listener.
func (t *tunnels) Addr() net.Addr { return t.address }

// anyHost is a certificate that the browser of a rehearsal takes for any host's.
func anyHost(now time.Time) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a key: %w", err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(now.Unix()), NotBefore: now.AddDate(0, 0, -1), NotAfter: now.AddDate(0, 0, 1)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, errors.Join(errors.New("make a certificate"), err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
