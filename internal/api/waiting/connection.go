package waiting

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/paylatch/paylatch/internal/platform/stream"
)

var (
	errTimeout    = errors.New("nothing has changed in time")
	errPeerClosed = errors.New("the peer has closed the connection")
)

const (
	// writeTime is how long a peer may take to accept a response or an event; a slower one is dropped.
	writeTime = 5 * time.Second
	// readAhead is how much a peer may send that waits for its response: requests sent ahead are no reason to hang up.
	readAhead = 16 << 10
)

// connection is the response of a waiter, on a connection that was taken from net/http. Its body ends with the
// connection.
type connection struct {
	conn   net.Conn
	header http.Header
	ahead  int
	scrap  [64]byte
}

// await returns the first state above a version, or errTimeout, errPeerClosed or stream.ErrEnded. It blocks in a read of
// the connection, which so ends with the peer; a wake ends it by its deadline.
func (c *connection) await(s slot, above int, until time.Time) (*Status, error) {
	for {
		_ = c.conn.SetReadDeadline(until) // a wake after this ends the read
		if next, ok := s.Next(above); ok {
			return next, nil
		}
		if s.Ended() {
			return nil, stream.ErrEnded
		}
		n, err := c.conn.Read(c.scrap[:])
		c.ahead += n
		switch {
		case err == nil && c.ahead <= readAhead:
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return nil, errPeerClosed
		case !time.Now().Before(until): //nolint:forbidigo // the socket's clock
			return nil, errTimeout
		}
	}
}

// wake ends await's read.
func (c *connection) wake() { _ = c.conn.SetReadDeadline(time.Unix(1, 0)) }

// begin sends the status, the headers and a body of the given length. Length -1 begins a body of unknown length.
func (c *connection) begin(status int, length int64, body []byte) error {
	var text bytes.Buffer
	c.header.Set("Date", time.Now().UTC().Format(http.TimeFormat)) //nolint:forbidigo // as net/http does
	r := http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: c.header, Close: true,
		ContentLength: length, Body: io.NopCloser(bytes.NewReader(body)),
	}
	_ = r.Write(&text)
	c.header = nil
	return c.send(text.Bytes())
}

func (c *connection) send(text []byte) error {
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTime)) //nolint:forbidigo // the socket's clock
	_, err := c.conn.Write(text)
	return err //nolint:wrapcheck // it means that the peer has gone
}
