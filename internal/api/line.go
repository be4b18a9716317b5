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
// no goroutine of its own: it is woken by news, by the hub's end, and by its timer,
// at which it also finds out whether the peer is still there.
type line struct {
	conn   net.Conn
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
	// said counts bytes that came although nothing was asked for.
	said int
}

// takeOver makes a line of the request's connection. What is in the exchange's
// header by then is sent with the answer.
func (x *exchange) takeOver(w http.ResponseWriter, waiter *stream.Waiter[*Status]) (*line, error) {
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
	return &line{conn: conn, waiter: waiter, head: bytes.Clone(head.Bytes())}, nil
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
		go l.run()
	}
}

func (l *line) run() {
	for {
		n := l.calls.Load()
		l.awake()
		if l.over || l.calls.CompareAndSwap(n, 0) {
			return
		}
	}
}

// end gives everything back but the waiter's place.
func (l *line) end() {
	l.over = true
	l.timer.Stop()
	_ = l.conn.Close()
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
	c, ok := l.conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return true
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
	text := l.open(now, status, headers)
	if body != nil {
		text = fmt.Appendf(text, "Content-Type: %s\r\nContent-Length: %d\r\n", echo.MIMEApplicationJSON, len(body))
	}
	if !l.write(append(text, "\r\n"...), body) {
		return statusGone
	}
	return status
}

// open is the status line and those headers that are known.
func (l *line) open(now time.Time, status int, headers string) []byte {
	text := fmt.Appendf(make([]byte, 0, len(l.head)+headRoom), "HTTP/1.1 %d %s\r\nDate: %s\r\n", status, http.StatusText(status), now.UTC().Format(http.TimeFormat))
	return append(append(text, l.head...), headers...)
}

// headRoom is what stands beside head in an answer.
const headRoom = 192

// writeTime is how long a peer may take for one piece; a slower one is dropped.
const writeTime = 5 * time.Second

// write reports whether the peer's side took all of it.
func (l *line) write(pieces ...[]byte) bool {
	limit := time.AfterFunc(writeTime, func() { _ = l.conn.SetWriteDeadline(time.Unix(1, 0)) })
	defer limit.Stop()
	text := net.Buffers(pieces)
	_, err := text.WriteTo(l.conn)
	return err == nil
}
