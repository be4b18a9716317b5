package faults_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// while bounds the wait for events that must not happen.
const while = 100 * time.Millisecond

// echo repeats each line that it gets.
func echo(t *testing.T) (address string) {
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
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

// talk is a connection to a proxy.
type talk struct {
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, p *faults.TCP) talk {
	t.Helper()
	c, err := net.Dial("tcp", p.Address())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(limit)))
	return talk{c, bufio.NewReader(c)}
}

func (c talk) say(t *testing.T, text string) {
	t.Helper()
	_, err := io.WriteString(c, text+"\n")
	require.NoError(t, err)
}

func (c talk) hears(t *testing.T, want string) {
	t.Helper()
	got, err := c.in.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, want+"\n", got)
}

// silent requires that nothing comes, and no end either.
func (c talk) silent(t *testing.T) {
	t.Helper()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(while)))
	_, err := c.in.ReadByte()
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(limit)))
}

func TestFrozenAndThawed(t *testing.T) {
	t.Parallel()
	p := faults.NewTCP(t, "tcp", echo(t))
	c := dial(t, p)
	c.say(t, "a")
	c.hears(t, "a")
	p.Freeze()
	p.Freeze()
	c.say(t, "b")
	c.silent(t)
	late := dial(t, p)
	late.say(t, "c")
	late.silent(t)
	p.Thaw()
	p.Thaw()
	c.hears(t, "b")
	late.hears(t, "c")
	require.Equal(t, 2, p.Open())
}

func TestAConnectionThatDiesWithoutAWord(t *testing.T) {
	t.Parallel()
	p := faults.NewTCP(t, "tcp", echo(t))
	c := dial(t, p)
	c.say(t, "a")
	c.hears(t, "a")
	p.Blackhole()
	c.say(t, "b")
	c.silent(t)
	again := dial(t, p)
	again.say(t, "c")
	again.hears(t, "c")
}

func TestAConnectionThatIsReset(t *testing.T) {
	t.Parallel()
	p := faults.NewTCP(t, "tcp", echo(t))
	c := dial(t, p)
	c.say(t, "a")
	c.hears(t, "a")
	p.Reset()
	_, err := c.in.ReadByte()
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	require.Zero(t, p.Open())
	again := dial(t, p)
	again.say(t, "c")
	again.hears(t, "c")
}

func TestAConnectionThatIsCutInTheMiddle(t *testing.T) {
	t.Parallel()
	p := faults.NewTCP(t, "tcp", echo(t))
	p.CutAfter(5)
	c := dial(t, p)
	c.say(t, "ab")
	c.hears(t, "ab")
	c.say(t, "cdef")
	rest, _ := io.ReadAll(c.in)
	require.Equal(t, "cd", string(rest))
	p.CutAfter(0)
	again := dial(t, p)
	again.say(t, "abcdefgh")
	again.hears(t, "abcdefgh")
}

func TestTripsAreCounted(t *testing.T) {
	t.Parallel()
	p := faults.NewTCP(t, "tcp", echo(t))
	c := dial(t, p)
	for i := range 3 {
		require.EqualValues(t, i, p.Trips())
		c.say(t, "a")
		c.hears(t, "a")
	}
	require.EqualValues(t, 3, p.Trips())
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	p := faults.NewTCP(t, "unix", t.TempDir()+"/none")
	_, err := dial(t, p).in.ReadByte()
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
}

func TestADatabaseThatFreezes(t *testing.T) {
	t.Parallel()
	p, url := faults.NewDatabase(t, testdb.New(t))
	conn := testdb.Connect(t, testdb.With(t, url, "application_name", "frozen"))
	require.Equal(t, "frozen", testdb.One[string](t, conn, "SHOW application_name"))
	p.Freeze()
	got := make(chan error, 1)
	go func() {
		var n int
		got <- conn.QueryRow(context.WithoutCancel(t.Context()), "SELECT 1").Scan(&n)
	}()
	select {
	case err := <-got:
		require.Fail(t, "nothing passes", "%v", err)
	case <-time.After(while):
	}
	p.Thaw()
	require.NoError(t, <-got)

	p.Reset()
	_, err := conn.Exec(t.Context(), "SELECT 1")
	require.Error(t, err)
	again, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	require.NoError(t, again.Close(t.Context()))
}
