package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/metrics"
)

func TestRequestID(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, sane := range []string{"a", "req-1/2:3", strings.Repeat("~", 128)} {
		require.Equal(t, sane, b.send(http.MethodGet, "/healthz", "", "X-Request-Id: "+sane).Header.Get("X-Request-Id"))
	}
	for _, odd := range []string{"", "a b", "ü", strings.Repeat("a", 129)} {
		id, err := uuid.Parse(b.send(http.MethodGet, "/healthz", "", "X-Request-Id: "+odd).Header.Get("X-Request-Id"))
		require.NoError(t, err)
		require.Equal(t, uuid.Version(7), id.Version())
	}
	got := b.send(http.MethodGet, "/v1/orders/A-1", "", "X-Request-Id: a", "X-Request-Id: b").Header.Get("X-Request-Id")
	require.Len(t, got, 36)
}

func TestPanicsAndUnknownErrorsTellNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.err = errors.New("pq: password secret text")
	for _, got := range []answer{
		b.command("/v1/orders", goodOrder, "Authorization: Bearer panic"),
		b.command("/v1/orders", goodOrder),
		b.send(http.MethodGet, "/v1/orders/A-1", "", "Authorization: Bearer broken"),
	} {
		p := got.is(t, 500, "internal")
		require.True(t, p.Retryable)
		require.NotContains(t, string(got.text), "secret")
		require.NotContains(t, string(got.text), ".go")
	}
	require.Contains(t, b.log.String(), "password secret text")
	require.Contains(t, b.log.String(), "fake_test.go", "the stack is in the log")
}

func TestLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.reply = commands.Reply{View: payment.View{Attempt: pending()}, Result: idempotency.Created}
	b.command("/v1/orders/A-1/pay", `{"payment_method":{"token":"tok_secret"}}`, "Authorization: Bearer u1-secret", "X-Request-Id: r1", "Origin: https://shop.example")
	var line map[string]any
	require.NoError(t, json.Unmarshal([]byte(b.log.String()), &line), "one line")
	require.Equal(t, map[string]any{
		"level": "info", "message": "request", "request_id": "r1", "method": "POST", "route": "/v1/orders/:order_id/pay",
		"status": 201.0, "took_ms": 0.0, "idempotency_key_hash": "25e78447de76", "idempotency_result": "created",
		"order_id": "A-1", "attempt_id": attemptID.String(), "account": "sandbox",
		"peer": "127.0.0.1", "sub": "u1-secret", "origin": "https://shop.example",
	}, line)
}

// Behind a trusted proxy the peer is the forwarded address. Texts that can't stand in a log are left out.
func TestLogOfAProxiedCall(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *api.Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	b.send(http.MethodGet, "/v1/orders/A-1", "", "Authorization: Bearer service", "On-Behalf-Of: u7", "X-Forwarded-For: 203.0.113.9, 127.0.0.2", "Origin: a b")
	var line map[string]any
	require.NoError(t, json.Unmarshal([]byte(b.log.String()), &line), "one line")
	require.Equal(t, []any{"203.0.113.9", "service", "u7", nil}, []any{line["peer"], line["sub"], line["on_behalf_of"], line["origin"]})
}

func TestACallerWhoHasGoneIsNoError(t *testing.T) {
	t.Parallel()
	served := make(chan metrics.Request, 1)
	ctx, hangUp := context.WithCancel(t.Context())
	b := newBench(t, func(o *api.Options) {
		o.Auth = slow{asked: hangUp}
		o.Observe = func(s metrics.Request) { served <- s }
	})
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.server.URL+"/v1/orders/A-1", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer u1")
	_, err = http.DefaultTransport.RoundTrip(r)
	require.Error(t, err)
	require.Equal(t, 499, (<-served).Status)
	require.NotContains(t, b.log.String(), `"level":"error"`)
}

// slow lets a caller lose patience.
type slow struct {
	tokens

	asked func()
}

func (s slow) Authenticate(ctx context.Context, _, _ string) (authz.Actor, error) {
	s.asked()
	<-ctx.Done()
	return authz.Actor{}, ctx.Err()
}

func TestBodiesThatNeverEnd(t *testing.T) {
	t.Parallel()
	const head = "POST /v1/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer u1\r\nIdempotency-Key: key-00000001\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
	for _, end := range []struct {
		hangUp bool
		status int
	}{{false, 408}, {true, 400}} {
		config := api.NewHTTPServer("", nil, zerolog.Nop())
		config.ReadTimeout = 200 * time.Millisecond
		if end.hangUp {
			config.ReadTimeout = 5 * soon // it ends before
		}
		b := serve(t, config)
		conn, err := net.Dial("tcp", b.server.Listener.Addr().String())
		require.NoError(t, err)
		_, err = io.WriteString(conn, head)
		require.NoError(t, err)
		if end.hangUp {
			require.NoError(t, conn.(*net.TCPConn).CloseWrite())
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.Equal(t, end.status, resp.StatusCode)
		require.Equal(t, "application/problem+json", resp.Header.Get("Content-Type"))
		require.NoError(t, resp.Body.Close())
		require.NoError(t, conn.Close())
	}
}

// net/http would answer it by itself.
func TestOptionsOfTheServerAreAnsweredAsTheRest(t *testing.T) {
	t.Parallel()
	b := serve(t, api.NewHTTPServer("", nil, zerolog.Nop()))
	conn, err := net.Dial("tcp", b.server.Listener.Addr().String())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	_, err = io.WriteString(conn, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	require.Equal(t, "application/problem+json", resp.Header.Get("Content-Type"))
	require.NotEmpty(t, resp.Header.Get("X-Request-Id"))
	require.NoError(t, resp.Body.Close())
}

func TestServerHasEveryLimit(t *testing.T) {
	t.Parallel()
	s := api.NewHTTPServer(":1", http.NotFoundHandler(), zerolog.Nop())
	require.Equal(t, 5*time.Second, s.ReadHeaderTimeout)
	require.Equal(t, 15*time.Second, s.ReadTimeout)
	require.Equal(t, 90*time.Second, s.WriteTimeout)
	require.Equal(t, 60*time.Second, s.IdleTimeout)
	require.Equal(t, 32<<10, s.MaxHeaderBytes)
}

// Messages of net/http, for instance about a handler's panic, are log lines as all others.
func TestWhatTheServerSaysIsInTheLog(t *testing.T) {
	t.Parallel()
	lines := &journal{}
	panics := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("no page") })
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.NewHTTPServer("", panics, zerolog.New(lines).With().Timestamp().Logger())
	server.Start()
	t.Cleanup(server.Close)
	_, err := (&http.Transport{}).RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil))
	require.Error(t, err)
	require.Eventually(t, func() bool { return lines.String() != "" }, soon, time.Millisecond)
	text := lines.String()
	require.Equal(t, 1, strings.Count(text, "\n"), text)
	var line map[string]string
	require.NoError(t, json.Unmarshal([]byte(text), &line))
	require.Equal(t, "warn", line["level"])
	require.Contains(t, line["message"], "no page")
	require.NotEmpty(t, line["time"])
}
