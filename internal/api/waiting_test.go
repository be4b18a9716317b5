package api_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api"
	wait "github.com/paylatch/paylatch/internal/api/waiting"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/stream"
)

const soon = time.Minute

// quiet is a bus without other speakers.
type quiet struct{}

func (quiet) Listen(ctx context.Context, ready func(), _ func(string)) error {
	ready()
	<-ctx.Done()
	return ctx.Err()
}
func (quiet) Announce(context.Context, []string) error { return nil }
func (quiet) Moved(context.Context, []stream.ID, []int32) ([]stream.ID, error) {
	return nil, nil
}

// waiting is a bench with a hub that runs, and one attempt.
type waiting struct {
	*bench
	hub *wait.Hub
	// end ends the hub and waits for its waiters.
	end func()

	mu   sync.Mutex
	view payment.View
}

const path = "/v1/payment-attempts/01980d3e-7f2a-7cc1-9d2b-3f0e5a6b7c8d"

func newWaiting(t *testing.T, limit int, change ...func(*api.Options)) *waiting {
	t.Helper()
	w := &waiting{view: payment.View{Attempt: pending()}}
	w.hub = wait.NewHub(quiet{}, func(context.Context, []payment.AttemptID) ([]payment.View, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return []payment.View{w.view}, nil
	}, limit, func(error) {})
	w.bench = newBench(t, append(change, func(o *api.Options) { o.Hub = w.hub })...)
	w.payments.view, w.payments.refund = w.view, commands.RefundReply{Refund: pendingRefund()}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = w.hub.Run(ctx) })
	w.end = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(w.end)
	return w
}

// move is a commit that changes the attempt.
func (w *waiting) move(to payment.Attempt) {
	w.mu.Lock()
	w.view = payment.View{Attempt: to}
	w.mu.Unlock()
	w.hub.Changed([]stream.ID{stream.ID(attemptID)})
}

// wait returns once so many wait.
func (w *waiting) wait(n int) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return w.hub.Stats().Waiters == n }, soon, time.Millisecond)
}

// logs waits until the log has a text so many times: a line follows its response.
func (w *waiting) logs(text string, n int) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return strings.Count(w.log.String(), text) == n }, soon, time.Millisecond)
}

// ask begins a request that waits.
func (w *waiting) ask(query string, headers ...string) <-chan answer {
	out := make(chan answer, 1)
	go func() { out <- w.send(http.MethodGet, path+query, "", headers...) }()
	return out
}

// followed is a stream that is being read.
type followed struct {
	*http.Response
	t     *testing.T
	lines *bufio.Scanner
}

func (w *waiting) follow(headers ...string) *followed {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.server.URL+path+"/stream", nil)
	require.NoError(w.t, err)
	r.Header.Set("Authorization", "Bearer u1")
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	return &followed{resp, w.t, bufio.NewScanner(resp.Body)}
}

// event returns the next block of lines, joined; empty at the end of the stream.
func (f *followed) event() string {
	f.t.Helper()
	var block []string
	for f.lines.Scan() {
		if f.lines.Text() == "" {
			return strings.Join(block, "\n")
		}
		block = append(block, f.lines.Text())
	}
	require.NoError(f.t, f.lines.Err())
	return strings.Join(block, "\n")
}

// begins reads the common beginning of a stream.
func (f *followed) begins() {
	f.t.Helper()
	require.Equal(f.t, http.StatusOK, f.StatusCode)
	require.Regexp(f.t, `^retry: 1\d\d\d$`, f.event())
}

func (f *followed) ends() {
	f.t.Helper()
	rest, err := io.ReadAll(f.Body)
	require.NoError(f.t, err)
	require.Empty(f.t, f.event()+string(rest))
}
