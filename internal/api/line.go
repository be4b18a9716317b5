package api

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/stream"
)

// line is a connection on which somebody waits. It was taken over from the HTTP
// server, whose buffers and goroutines are most of what waiting would cost, and has
// no goroutine of its own: a crew looks after it on news, at the hub's end, and when
// its timer rings, at which it also finds out whether the peer is still there.
type line struct {
	conn   net.Conn
	crew   *crew
	waiter *stream.Waiter[*Status]
	// head is what all answers begin with, after the status line.
	head []byte
	// awake looks what has happened and answers. It never runs twice at once.
	awake func()
	timer *time.Timer
	rung  atomic.Bool
	// calls counts wakes that awake has not looked after; it stays above 0 when all
	// is over.
	calls atomic.Int32
	over  bool
	// looked says that a worker of the crew is at it; aside, that this worker has
	// left the crew because it had to wait.
	looked, aside bool
	// said counts bytes that came although nothing was asked for.
	said int
}

// takeOver makes a line of the request's connection. What is in the exchange's
// header by then is sent with the answer.
func (x *exchange) takeOver(w http.ResponseWriter, crew *crew, waiter *stream.Waiter[*Status]) (*line, error) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, fmt.Errorf("take the connection over: %w", err)
	}
	h := x.header().Clone()
	for _, name := range []string{headerETag, echo.HeaderRetryAfter} { // they may be others by then
		h.Del(name)
	}
	var head bytes.Buffer
	_ = h.Write(&head)
	head.WriteString("Connection: close\r\n")
	x.takenOver, x.route = true, x.context.Path()
	x.context, x.actor = nil, payment.Actor{} // the next request gets the one, nobody needs the other
	return &line{conn: conn, crew: crew, waiter: waiter, head: bytes.Clone(head.Bytes())}, nil
}

// begin has awake called whenever there may be something to do, the first time
// now, and at the latest after tick.
func (l *line) begin(version int, tick time.Duration, awake func()) {
	l.awake = awake
	l.timer = time.AfterFunc(tick, func() {
		l.rung.Store(true)
		l.wake()
	})
	l.waiter.Arm(version, l.wake)
	l.wake()
}

// wake has the line look what has happened. It does not wait for that.
func (l *line) wake() {
	if l.calls.Add(1) == 1 {
		l.crew.call(l)
	}
}

// run looks until all calls are answered. It reports whether the worker has left
// the crew meanwhile.
func (l *line) run() (aside bool) {
	for {
		n := l.calls.Load()
		l.looked, l.aside = !aside, false
		l.awake()
		aside = aside || l.aside
		if l.over || l.calls.CompareAndSwap(n, 0) {
			return aside
		}
	}
}

// end gives everything back, and then does what is left to do: after all the
// others that wait for the same have got their answer.
func (l *line) end(then func()) {
	l.over = true
	l.timer.Stop()
	l.crew.afterwards(func() {
		_ = l.conn.Close()
		then()
	})
}

// happening is what look has found.
type happening int

const (
	nothing happening = iota
	changed
	// rang says that the timer did; it must be set again.
	rang
	// closing says that the process is about to end.
	closing
	gone
)

// look returns what has happened since the last time, and a state above a
// version if that has changed.
func (l *line) look(version int) (*Status, happening) {
	s, ok := l.waiter.Next(version)
	switch {
	case ok:
		return s, changed
	case l.waiter.Ended():
		return nil, closing
	case !l.rung.CompareAndSwap(true, false):
		return nil, nothing
	case l.deserted():
		return nil, gone
	}
	return nil, rang
}

const (
	// lookAround is how often a line finds out whether its peer is there.
	lookAround = 5 * time.Second
	// muchSaid is how much a peer may send that waits for an answer: a request ahead
	// of its time is not answered, and no reason to hang up.
	muchSaid = 16 << 10
)

// deserted reports whether the peer has hung up, or talks without end. It throws
// away what came, since a connection that is closed before all was read is reset.
// Of a connection that can't be read without waiting nothing is known.
func (l *line) deserted() bool {
	raw, err := l.raw()
	if raw == nil || err != nil {
		return err != nil
	}
	var scrap [512]byte
	for l.said <= muchSaid {
		var n int
		if failed := raw.Read(func(fd uintptr) bool {
			n, err = syscall.Read(int(fd), scrap[:])
			return true
		}); failed != nil {
			return true
		}
		if n <= 0 {
			return !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
		}
		l.said += n
	}
	return true
}

// answer sends a whole answer and returns its status, or what the log says of one
// that nobody took.
func (l *line) answer(now time.Time, status int, headers string, body []byte) int {
	text := l.open(now, status, headers, len(body))
	if body != nil {
		text = fmt.Appendf(text, "Content-Type: %s\r\nContent-Length: %d\r\n", echo.MIMEApplicationJSON, len(body))
	}
	if !l.write(append(append(text, "\r\n"...), body...)) {
		return statusGone
	}
	return status
}

// open is the status line and those headers that are known, with room for more.
func (l *line) open(now time.Time, status int, headers string, room int) []byte {
	text := fmt.Appendf(make([]byte, 0, len(l.head)+headRoom+room), "HTTP/1.1 %d %s\r\nDate: %s\r\n", status, http.StatusText(status), now.UTC().Format(http.TimeFormat))
	return append(append(text, l.head...), headers...)
}

// headRoom is what stands beside head in an answer.
const headRoom = 192

// writeTime is how long a peer may take for one piece; a slower one is dropped.
const writeTime = 5 * time.Second

// write reports whether the peer's side took all of it.
func (l *line) write(text []byte) bool {
	rest, alive := l.put(text)
	if !alive || len(rest) == 0 {
		return alive
	}
	if l.looked && !l.aside {
		l.aside = true
		l.crew.stepAside()
	}
	limit := time.AfterFunc(writeTime, func() { _ = l.conn.SetWriteDeadline(time.Unix(1, 0)) })
	defer limit.Stop()
	_, err := l.conn.Write(rest)
	return err == nil
}

// put writes what can be written without waiting. It returns the rest, and whether
// the connection is good for it.
func (l *line) put(text []byte) (rest []byte, alive bool) {
	raw, err := l.raw()
	if raw == nil || err != nil {
		return text, err == nil
	}
	var n int
	failed := raw.Write(func(fd uintptr) bool {
		n, err = syscall.Write(int(fd), text)
		return true
	})
	switch {
	case failed != nil:
		return text, false
	case err != nil:
		return text, errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR)
	}
	return text[n:], true
}

// raw is the connection beneath, nil for one of which it can't be had.
func (l *line) raw() (syscall.RawConn, error) {
	c, ok := l.conn.(syscall.Conn)
	if !ok {
		return nil, nil
	}
	return c.SyscallConn() //nolint:wrapcheck // says only that the connection is closed
}
