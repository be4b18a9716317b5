package api

import (
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestACrewIsAsLargeAsTheMachine however many lines are called at once.
func TestACrewIsAsLargeAsTheMachine(t *testing.T) {
	t.Parallel()
	const many = 2000
	var c crew
	var all sync.WaitGroup
	var now, most, ended atomic.Int32
	all.Add(2 * many)
	for range many {
		l := &line{conn: &net.TCPConn{}, crew: &c, timer: time.NewTimer(time.Hour)}
		l.awake = func() {
			defer all.Done()
			for n := now.Add(1); ; {
				if seen := most.Load(); n <= seen || most.CompareAndSwap(seen, n) {
					break
				}
			}
			runtime.Gosched()
			now.Add(-1)
			l.end(func() { ended.Add(1); all.Done() })
		}
		l.wake()
	}
	all.Wait()
	require.LessOrEqual(t, int(most.Load()), runtime.GOMAXPROCS(0))
	require.EqualValues(t, many, ended.Load())
	require.Eventually(t, func() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.busy == 0 }, 10*time.Second, time.Millisecond)
}

// TestWhoMustWaitGivesItsPlaceToAnother: peers that don't read hold nobody up.
func TestWhoMustWaitGivesItsPlaceToAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c crew
		var dropped atomic.Int32
		slow := 3 * runtime.GOMAXPROCS(0)
		for range slow {
			here, _ := net.Pipe()
			l := &line{conn: here, crew: &c, timer: time.NewTimer(time.Hour)}
			l.awake = func() {
				if !l.write([]byte("news")) && !l.write([]byte("more")) {
					l.end(func() { dropped.Add(1) })
				}
			}
			l.wake()
		}
		synctest.Wait()
		here, there := net.Pipe()
		l := &line{conn: here, crew: &c, timer: time.NewTimer(time.Hour)}
		l.awake = func() { l.end(func() {}); _ = l.write([]byte("news")) }
		l.wake()
		news := make([]byte, 4)
		began := time.Now()
		_, err := io.ReadFull(there, news)
		require.NoError(t, err)
		require.Zero(t, time.Since(began))
		time.Sleep(2 * writeTime) // of the bubble
		synctest.Wait()
		require.EqualValues(t, slow, dropped.Load())
		require.Zero(t, c.busy)
	})
}

// TestALongTextArrivesWhole, although the peer's side does not take it at once.
func TestALongTextArrivesWhole(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	there, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	here, err := listener.Accept()
	require.NoError(t, err)

	text := strings.Repeat("0123456789abcdef", 1<<20) // 16 MiB
	l := &line{conn: here}
	rest, alive := l.put([]byte(text))
	require.True(t, alive)
	require.NotEmpty(t, rest, "more than a socket holds")
	require.True(t, strings.HasSuffix(text, string(rest)))
	wrote := make(chan bool, 1)
	go func() {
		wrote <- l.write(rest)
		_ = here.Close()
	}()
	got, err := io.ReadAll(there)
	require.NoError(t, err)
	require.True(t, <-wrote)
	require.True(t, text == string(got), "every byte, and once") //nolint:testifylint // nobody wants to read 16 MiB
	require.NoError(t, there.Close())
	require.False(t, l.write([]byte("x")), "it has hung up")
}
