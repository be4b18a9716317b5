package server_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/server"
)

// limitedServer serves with a limit of connections; a request for /slow takes until the test ends it.
type limitedServer struct {
	t     *testing.T
	l     *server.Limited
	begun chan struct{}
	end   chan struct{}
}

func newLimited(t *testing.T, most int, proxies ...netip.Prefix) *limitedServer {
	t.Helper()
	inner, err := server.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	s := &limitedServer{t, server.Limit(inner, most, proxies), make(chan struct{}, 100), make(chan struct{})}
	h := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			s.begun <- struct{}{}
			<-s.end
		}
	})}
	s.l.Watch(h)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error)
	go func() { done <- server.Until(ctx, h, s.l, time.Second) }()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return s
}

func (s *limitedServer) dial() net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.l.Addr().String())
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	require.NoError(s.t, c.SetDeadline(time.Now().Add(5*time.Minute)))
	return c
}

func (s *limitedServer) ask(c net.Conn, path string) {
	_, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: test\r\n\r\n")
}

// answered reports whether a connection brings a response.
func answered(c net.Conn) bool {
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	return err == nil && r.Body.Close() == nil && r.StatusCode == http.StatusOK
}

// TestConnectionsEnd: however many connections are kept, silent or idle after a request, a new one is served, and a busy one stays.
func TestConnectionsEnd(t *testing.T) {
	t.Parallel()
	const most = 20
	proxy := netip.MustParsePrefix("127.0.0.0/8")
	s := newLimited(t, most, proxy)
	busy := s.dial()
	s.ask(busy, "/slow")
	<-s.begun
	for i := range 5 * most {
		c := s.dial()
		if i%2 == 0 {
			s.ask(c, "/")
			require.True(t, answered(c), i)
		}
		require.LessOrEqual(t, s.l.Open(), most)
	}
	c := s.dial()
	s.ask(c, "/readyz")
	require.True(t, answered(c))
	close(s.end)
	require.True(t, answered(busy))
}

// TestConnectionsOfANetwork: busy connections of one network leave half to others, and its own idle ones give way first.
func TestConnectionsOfANetwork(t *testing.T) {
	t.Parallel()
	const most = 8
	s := newLimited(t, most)
	var busy []net.Conn
	for range most / 2 {
		c := s.dial()
		s.ask(c, "/slow")
		<-s.begun
		busy = append(busy, c)
	}
	c := s.dial()
	s.ask(c, "/")
	require.False(t, answered(c), "its share is taken")
	require.Equal(t, most/2, s.l.Open())
	close(s.end)
	for _, c := range busy {
		require.True(t, answered(c))
	}
	// The server may notice a moment later that these are idle.
	require.Eventually(t, func() bool {
		c := s.dial()
		s.ask(c, "/")
		return answered(c)
	}, time.Minute, time.Millisecond)
}
