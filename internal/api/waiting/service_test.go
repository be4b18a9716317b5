package waiting_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/api/waiting"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/stream"
)

// silent is a bus without other processes.
type silent struct{}

func (silent) Listen(ctx context.Context, ready func(), _ func(string)) error {
	ready()
	<-ctx.Done()
	return ctx.Err()
}
func (silent) Announce(context.Context, []string) error                         { return nil }
func (silent) Moved(context.Context, []stream.ID, []int32) ([]stream.ID, error) { return nil, nil }

// env is a service with one attempt behind a server of net/http with its usual limits. All of it must be in a bubble.
type env struct {
	t       *testing.T
	hub     *waiting.Hub
	pipes   chan net.Conn
	stop    func()
	mu      sync.Mutex
	attempt payment.Attempt
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{t: t, pipes: make(chan net.Conn), attempt: payment.Attempt{ID: payment.AttemptID{1}, State: fsm.AwaitingCustomer, Version: 2}}
	e.hub = waiting.NewHub(silent{}, func(context.Context, []payment.AttemptID) ([]payment.View, error) {
		return []payment.View{e.view()}, nil
	}, 0, nil)
	s := waiting.Service{Hub: e.hub, Renderer: render.New(time.Now, 0), Read: func(context.Context, authz.Actor, payment.AttemptID) (payment.View, error) {
		return e.view(), nil
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("/poll", func(w http.ResponseWriter, r *http.Request) {
		wait, _ := s.Poll(r.Context(), w, waiting.Poll{ID: payment.AttemptID{1}, Tags: `"2"`, Wait: time.Minute})
		waiting.Leave(r.Context(), wait, func(int) {})
	})
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		wait, _ := s.Stream(r.Context(), w, waiting.Stream{ID: payment.AttemptID{1}})
		waiting.Leave(r.Context(), wait, func(int) {})
	})
	server := &http.Server{Handler: waiting.Handler(mux), ReadTimeout: 15 * time.Second, WriteTimeout: 90 * time.Second}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = e.hub.Run(ctx) })
	running.Go(func() { _ = server.Serve(e) })
	e.stop = func() {
		cancel()
		require.NoError(t, server.Shutdown(context.Background()))
		running.Wait()
	}
	return e
}

func (e *env) view() payment.View {
	e.mu.Lock()
	defer e.mu.Unlock()
	return payment.View{Attempt: e.attempt}
}

// becomes is a commit that changes the attempt.
func (e *env) becomes(state fsm.State) {
	e.mu.Lock()
	e.attempt.State = state
	e.attempt.Version++
	e.mu.Unlock()
	e.hub.Changed([]stream.ID{{1}})
}

func (e *env) Accept() (net.Conn, error) {
	c, ok := <-e.pipes
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (e *env) Addr() net.Addr { return &net.UnixAddr{} }
func (e *env) Close() error   { close(e.pipes); return nil }

// get sends a request on a connection of its own.
func (e *env) get(path string) net.Conn {
	e.t.Helper()
	here, there := net.Pipe()
	e.pipes <- there
	_, err := io.WriteString(here, "GET "+path+" HTTP/1.1\r\nHost: test\r\n\r\n")
	require.NoError(e.t, err)
	return here
}

func TestPoll(t *testing.T) {
	t.Parallel()
	t.Run("outlives_the_limit_of_reading", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			e := newEnv(t)
			began, conn := time.Now(), e.get("/poll")
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			require.Equal(t, http.StatusNotModified, resp.StatusCode)
			require.Equal(t, time.Minute, time.Since(began))
			require.NoError(t, conn.Close())
			e.stop()
		})
	})
	t.Run("slow_reader_is_dropped", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			e := newEnv(t)
			conn := e.get("/poll")
			synctest.Wait()
			began := time.Now()
			e.becomes(fsm.Succeeded)
			e.stop()
			require.Equal(t, 5*time.Second, time.Since(began).Truncate(time.Second))
			_, err := io.ReadAll(conn)
			require.NoError(t, err)
		})
	})
	t.Run("end_of_the_hub", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			e := newEnv(t)
			conn := e.get("/poll")
			synctest.Wait()
			began, status := time.Now(), make(chan string)
			go func() {
				line, _ := bufio.NewReader(conn).ReadString('\n')
				status <- line
				_ = conn.Close()
			}()
			go e.stop()
			require.Equal(t, "HTTP/1.1 304 Not Modified\r\n", <-status)
			require.Zero(t, time.Since(began))
		})
	})
}

func TestStream(t *testing.T) {
	t.Parallel()
	t.Run("heartbeats_for_half_an_hour", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			e := newEnv(t)
			began, lines := time.Now(), bufio.NewScanner(e.get("/stream"))
			var beats int
			for lines.Scan() {
				if lines.Text() == ":" {
					beats++
					require.Equal(t, time.Duration(beats)*15*time.Second, time.Since(began))
				}
			}
			require.Equal(t, 120, beats)
			e.stop()
		})
	})
	t.Run("changes_after_the_limit_of_writing", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			e := newEnv(t)
			conn := e.get("/stream")
			all := make(chan string)
			go func() {
				text, _ := io.ReadAll(conn)
				all <- string(text)
			}()
			time.Sleep(2 * time.Minute) // of the bubble
			e.becomes(fsm.Authorized)
			synctest.Wait()
			e.becomes(fsm.Succeeded)
			text := <-all
			require.Equal(t, 3, strings.Count(text, "event: status\n"), text)
			require.Contains(t, text, "\nid: 4\n")
			e.stop()
		})
	})
	t.Run("slow_reader_is_dropped", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			e := newEnv(t)
			began, conn := time.Now(), e.get("/stream")
			_, err := conn.Read(make([]byte, 1)) // and no more
			require.NoError(t, err)
			time.Sleep(5*time.Second + time.Millisecond) // of the bubble
			synctest.Wait()
			require.Zero(t, e.hub.Stats().Waiters)
			_, err = io.ReadAll(conn)
			require.NoError(t, err, "it sees the end")
			require.Less(t, time.Since(began), 6*time.Second)
			e.stop()
		})
	})
	t.Run("reader_that_leaves", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			e := newEnv(t)
			conn := e.get("/stream")
			lines := bufio.NewScanner(conn)
			for lines.Scan() && lines.Text() != "id: 2" {
			}
			require.Equal(t, 1, e.hub.Stats().Waiters)
			require.NoError(t, conn.Close())
			synctest.Wait()
			require.Zero(t, e.hub.Stats().Waiters, "at once")
			e.stop()
		})
	})
}
