package kit_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const lease = 30 * time.Second

// clock is a clock that stands still until it leaps to the end of the lease.
type clock struct {
	start time.Time
	ahead atomic.Int64
}

func newClock() *clock { return &clock{start: time.Now()} }

func (c *clock) now() time.Time { return c.start.Add(time.Duration(c.ahead.Load())) }
func (c *clock) expire()        { c.ahead.Add(int64(lease)) }

func (c *clock) permit() *gateway.Permit {
	l := gateway.NewPermit(c.start, lease, c.now)
	return &l
}

// client returns a client with its own connections.
func client(t *testing.T, change ...func(*http.Transport)) *http.Client {
	t.Helper()
	tr := &http.Transport{}
	for _, f := range change {
		f(tr)
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// server counts the requests that its handler receives.
func server(t *testing.T, h http.HandlerFunc) (url string, hits *atomic.Int32) {
	t.Helper()
	hits = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, hits
}

// wire is a server below HTTP. talk handles each connection.
func wire(t *testing.T, talk func(net.Conn)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			talk(c)
			_ = c.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

// readRequest reads one whole request from a connection.
func readRequest(r *bufio.Reader) error {
	req, err := http.ReadRequest(r)
	if err == nil {
		_, err = io.Copy(io.Discard, req.Body)
	}
	return err
}

func post(url string) kit.Request {
	return kit.Request{
		Method: http.MethodPost, URL: url + "/v1/charges", Body: []byte(`{"amount":1999}`), Permit: newClock().permit(),
		Header: http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {"0123-pay"}},
	}
}

// dialled calls then after the connection is established and before the request.
func dialled(then func()) func(*http.Transport) {
	return func(tr *http.Transport) {
		tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			then()
			return c, err
		}
	}
}
