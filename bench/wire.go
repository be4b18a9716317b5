package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strconv"
	"time"
)

// answer is the part of a response that the benchmark counts: its status, and its result by Webhook-Result or
// Idempotency-Result.
type answer struct {
	status int
	result string
}

// wire is one kept-alive HTTP/1.1 connection that sends prepared requests. It does little work, since it shares the processors
// with the measured program.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	// limited is when the time limit was set last.
	limited time.Time
}

const requestLimit = 30 * time.Second

func dial(ctx context.Context, address string) (*wire, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect to the program: %w", err)
	}
	return &wire{conn: conn, in: bufio.NewReaderSize(conn, 4<<10)}, nil
}

func (w *wire) close() { _ = w.conn.Close() }

// do sends a request that is complete, and reads the whole response.
func (w *wire) do(request []byte) (answer, error) {
	if err := w.limit(); err != nil {
		return answer{}, err
	}
	if _, err := w.conn.Write(request); err != nil {
		return answer{}, fmt.Errorf("send a request: %w", err)
	}
	a, length, err := w.head()
	if err != nil {
		return a, fmt.Errorf("read an answer: %w", err)
	}
	if length >= 0 {
		_, err = w.in.Discard(length)
	} else if _, err = io.Copy(io.Discard, httputil.NewChunkedReader(w.in)); err == nil {
		_, err = w.in.ReadSlice('\n')
	}
	if err != nil {
		return a, fmt.Errorf("read an answer: %w", err)
	}
	return a, nil
}

// limit sets the time limit anew once in a while, which costs as much as parsing an
// answer.
func (w *wire) limit() error {
	const often = requestLimit / 10
	at := now()
	if at.Sub(w.limited) < often {
		return nil
	}
	w.limited = at
	if err := w.conn.SetDeadline(at.Add(requestLimit + often)); err != nil {
		return fmt.Errorf("limit a request: %w", err)
	}
	return nil
}

var errNoHTTP = errors.New("this is no HTTP")

// head reads the status and the headers. The length is -1 for a chunked body.
func (w *wire) head() (a answer, length int, err error) {
	line, err := w.line()
	if err != nil {
		return a, 0, err
	}
	if len(line) < len("HTTP/1.1 200") {
		return a, 0, errNoHTTP
	}
	if a.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return a, 0, errNoHTTP
	}
	for {
		line, err := w.line()
		if err != nil {
			return a, 0, err
		}
		name, value, found := bytes.Cut(line, []byte(": "))
		if !found {
			return a, length, nil
		}
		switch string(name) {
		case "Content-Length":
			length, err = strconv.Atoi(string(value))
		case "Transfer-Encoding":
			length = -1
		case "Webhook-Result", "Idempotency-Result":
			a.result = known(value)
		}
		if err != nil {
			return a, 0, errNoHTTP
		}
	}
}

// line reads a line, which is valid until the next read.
func (w *wire) line() ([]byte, error) {
	line, err := w.in.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("read a line: %w", err)
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// The results that the program reports.
const (
	applied   = "applied"
	duplicate = "duplicate"
	created   = "created"
	reused    = "reused"
)

// known saves an allocation for frequent results.
func known(result []byte) string {
	switch string(result) {
	case applied:
		return applied
	case duplicate:
		return duplicate
	case created:
		return created
	case reused:
		return reused
	}
	return string(result)
}
