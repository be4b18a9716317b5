package api

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/stream"
)

// fed is a feed on a line whose other end is the test's.
func fed(t *testing.T, hub *stream.Hub[*Status]) (there net.Conn, ended chan struct{}) {
	t.Helper()
	waiter, err := hub.Join(stream.ID{1}, stream.Party{})
	require.NoError(t, err)
	s := &server{Options: Options{Log: zerolog.Nop(), Hub: hub}.withDefaults()}
	here, there := net.Pipe()
	f := &feed{server: s, x: &exchange{}, waiter: waiter, version: 2, first: []byte("first\n\n")}
	ended = make(chan struct{})
	s.Observe = func(Served) { close(ended) }
	go f.begin(&line{conn: here, crew: &s.crew, waiter: waiter})
	return there, ended
}

func newHub() *stream.Hub[*Status] { return NewHub(nil, nil, 0, nil) }

// TestAQuietStreamSaysThatItLives every 15 seconds, for half an hour.
func TestAQuietStreamSaysThatItLives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		there, ended := fed(t, newHub())
		began := time.Now()
		lines := bufio.NewScanner(there)
		var comments int
		for lines.Scan() {
			if lines.Text() == ":" {
				comments++
				require.Equal(t, time.Duration(comments)*15*time.Second, time.Since(began))
			}
		}
		<-ended
		require.Equal(t, 120, comments)
	})
}

// TestASlowReaderIsDropped after five seconds, and holds nobody up till then.
func TestASlowReaderIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hub := newHub()
		there, ended := fed(t, hub)
		began := time.Now()
		one := make([]byte, 1)
		_, err := there.Read(one) // and no more
		require.NoError(t, err)
		<-ended
		require.Equal(t, 5*time.Second, time.Since(began))
		synctest.Wait()
		require.Zero(t, hub.Stats().Waiting)
		_, err = io.ReadAll(there)
		require.NoError(t, err, "it sees the end")
	})
}

// TestWhoTalksOutOfTurnIsDropped, but not for a request ahead of its time.
func TestWhoTalksOutOfTurnIsDropped(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	there, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = there.Close() })
	here, err := listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = here.Close() })

	l := &line{conn: here}
	require.False(t, l.deserted())
	hears := func(n int) {
		_, err := io.WriteString(there, strings.Repeat("x", n))
		require.NoError(t, err)
	}
	hears(10_000)
	require.Eventually(t, func() bool { return !l.deserted() && l.said == 10_000 }, 10*time.Second, time.Millisecond, "a little is borne")
	hears(10_000)
	require.Eventually(t, l.deserted, 10*time.Second, time.Millisecond)
	l.said = 0
	require.NoError(t, there.Close())
	require.Eventually(t, l.deserted, 10*time.Second, time.Millisecond, "it has hung up")
}

// TestAStatusIsRenderedOnce: 8,000 who wait for one attempt share its text.
func TestAStatusIsRenderedOnce(t *testing.T) {
	t.Parallel()
	s := &server{Options: Options{}.withDefaults()}
	one := &Status{View: payment.View{Attempt: payment.Attempt{State: fsm.Succeeded, Version: 3}}}
	event, body := s.render(one)
	again, _ := s.render(one)
	require.Same(t, &event[0], &again[0])
	require.Equal(t, "event: status\nid: 3\ndata: "+string(body)+"\n", string(event))
	require.Equal(t, 1, strings.Count(string(body), "\n"), "it fits into one line of an event")
}
