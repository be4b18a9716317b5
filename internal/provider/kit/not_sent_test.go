package kit_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

func TestNotSentWhenNoConnectionStands(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = nil
	t.Cleanup(untrusted.Close)
	nowhere := func(tr *http.Transport) {
		tr.DialContext = func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.DNSError{Err: "no such host", Name: "provider.invalid", IsNotFound: true}
		}
	}
	for name, c := range map[string]struct {
		url    string
		client *http.Client
	}{
		"connection refused": {closed.URL, client(t)},
		"no such host":       {"http://provider.invalid", client(t, nowhere)},
		"TLS":                {untrusted.URL, client(t)},
		"address":            {"http://bad host", client(t)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := kit.Do(t.Context(), c.client, post(c.url))
			require.ErrorIs(t, err, gateway.ErrNotSent)
			require.NotErrorIs(t, err, gateway.ErrUnsupportedRequest, "another request would fare no better")
		})
	}
}

func TestNotSentWhenTheTimeEndsWhileDialling(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	hanging := client(t, func(tr *http.Transport) {
		tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	_, err := kit.Do(ctx, hanging, post("http://provider.invalid"))
	require.ErrorIs(t, err, gateway.ErrNotSent)
}

// A process that is frozen between the permit and the first byte sends nothing, not even the request line.
func TestNothingGoesOutPastTheLease(t *testing.T) {
	t.Parallel()
	got := make(chan []byte, 1)
	url := wire(t, func(c net.Conn) {
		_ = c.SetReadDeadline(time.Now().Add(2 * time.Minute))
		raw, _ := io.ReadAll(c)
		got <- raw
	})
	clock := newClock()
	r := post(url)
	r.Permit = clock.permit()
	_, err := kit.Do(t.Context(), client(t, dialled(func() { clock.expire() })), r)
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.ErrorIs(t, err, gateway.ErrPermitEnded)
	require.Empty(t, <-got)
}

func TestALicenceIsAskedOnceAndNotInTheMiddle(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("x"), 1<<20)
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !bytes.Equal(body, long) {
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	clock := newClock()
	asked := 0
	permit := gateway.NewPermit(clock.start, lease, func() time.Time {
		asked++
		defer clock.expire()
		return clock.now()
	})
	r := post(url)
	r.Permit, r.Body = &permit, long
	a, err := kit.Do(t.Context(), client(t), r)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, a.Status)
	require.Equal(t, 1, asked)
}

// A command without a body is complete after its headers.
func TestACommandWithoutABodyIsGated(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		url, hits := server(t, func(http.ResponseWriter, *http.Request) {})
		clock := newClock()
		r := post(url)
		r.Method, r.Body, r.Permit = method, nil, clock.permit()
		_, err := kit.Do(t.Context(), client(t), r)
		require.NoError(t, err)
		_, err = kit.Do(t.Context(), client(t, dialled(func() { clock.expire() })), r)
		require.ErrorIs(t, err, gateway.ErrNotSent)
		require.EqualValues(t, 1, hits.Load(), method)
	}
}

// The first read of a command is part of the command.
func TestAQuestionWithALicenceIsGated(t *testing.T) {
	t.Parallel()
	url, hits := server(t, func(http.ResponseWriter, *http.Request) {})
	clock := newClock()
	r := kit.Request{Method: http.MethodGet, URL: url, Permit: clock.permit()}
	_, err := kit.Do(t.Context(), client(t), r)
	require.NoError(t, err)
	_, err = kit.Do(t.Context(), client(t, dialled(func() { clock.expire() })), r)
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.ErrorIs(t, err, gateway.ErrPermitEnded)
	require.EqualValues(t, 1, hits.Load())
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	r.URL, r.Permit = gone.URL, newClock().permit()
	_, err = kit.Do(t.Context(), client(t), r)
	require.ErrorIs(t, err, gateway.ErrNotSent)
}

// If many requests share a connection, only the request without a valid permit is stopped.
func TestHTTP2SendsNothingPastTheLeaseAndLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	arrived, answer := make(chan struct{}), make(chan struct{})
	var hits atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		arrived <- struct{}{}
		<-answer
		_, _ = io.WriteString(w, r.Proto)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	first := make(chan string, 1)
	go func() {
		a, err := kit.Do(t.Context(), s.Client(), post(s.URL))
		first <- fmt.Sprint(string(a.Body), err)
	}()
	<-arrived
	clock := newClock()
	clock.expire()
	for range 50 {
		r := post(s.URL)
		r.Permit = clock.permit()
		_, err := kit.Do(t.Context(), s.Client(), r)
		require.ErrorIs(t, err, gateway.ErrNotSent)
		require.ErrorIs(t, err, gateway.ErrPermitEnded)
	}
	close(answer)
	require.Equal(t, "HTTP/2.0<nil>", <-first)
	require.EqualValues(t, 1, hits.Load())
}
