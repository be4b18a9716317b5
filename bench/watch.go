package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"
)

// watcher waits for one change, as a client does: if the wait ends without the change, it waits again.
type watcher struct {
	number, attempt int
	caller          caller
	// heard is when the watcher got the change. It closes its connection only after all watchers got theirs, since closing would
	// delay the others.
	heard time.Time
	conn  net.Conn
	err   error
}

// watchers are many watchers, each on its own goroutine until it gets its change or leaves.
type watchers struct {
	all  []*watcher
	done sync.WaitGroup
	stop context.CancelFunc
}

// leave stops the watchers that got no change, and closes all connections.
func (w *watchers) leave() {
	w.stop()
	w.done.Wait()
	for _, one := range w.all {
		if one.conn != nil {
			_ = one.conn.Close()
		}
	}
}

// add lets one more wait.
func (w *watchers) add(ctx context.Context, one *watcher) {
	w.all = append(w.all, one)
	w.done.Go(func() { one.err = one.watch(ctx) })
}

// told waits until all watchers got their changes, and returns the time of the last one.
func (w *watchers) told() (last time.Time, err error) {
	w.done.Wait()
	for _, one := range w.all {
		if one.err != nil {
			return last, fmt.Errorf("waiter %d: %w", one.number, one.err)
		}
		if one.heard.After(last) {
			last = one.heard
		}
	}
	return last, nil
}

// loadedVersion is the version of a loaded attempt.
const loadedVersion = "2"

// watch returns once the watcher got the attempt as succeeded. Watchers with odd numbers use a stream.
func (w *watcher) watch(ctx context.Context) error {
	path, header, known := "/v1/payment-attempts/"+attemptID(w.attempt)+"?wait=60", "If-None-Match", `"`+loadedVersion+`"`
	if w.number%2 == 1 {
		path, header, known = "/v1/payment-attempts/"+attemptID(w.attempt)+"/stream", "Last-Event-ID", loadedVersion
	}
	ask := request(http.MethodGet, path, w.caller.host, "", "Authorization", "Bearer "+w.caller.token,
		"Connection", "close", header, known)
	for {
		if err := w.once(ctx, ask); err != nil || !w.heard.IsZero() {
			return err
		}
		if err := wait(ctx, time.Second); err != nil {
			return err
		}
	}
}

// once waits on one connection, until the connection ends or the watcher got the change.
func (w *watcher) once(ctx context.Context, ask []byte) error {
	conn, err := dialFrom(ctx, w.caller.host, w.number)
	if err != nil {
		return err
	}
	defer func() {
		if w.heard.IsZero() {
			_ = conn.Close()
		}
	}()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := conn.Write(ask); err != nil {
		return nil // it comes again
	}
	for in := bufio.NewReaderSize(conn, 2<<10); ; {
		line, err := in.ReadSlice('\n')
		if bytes.Contains(line, []byte(`"status":"succeeded"`)) {
			w.heard, w.conn = now(), conn
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return context.Cause(ctx) //nolint:wrapcheck // says all there is
		}
	}
}

// portsAnAddress keeps clear of the limit on connections between two addresses.
const portsAnAddress = 4000

// dialFrom uses several of this machine's own addresses, if it has them.
func dialFrom(ctx context.Context, address string, number int) (net.Conn, error) {
	d := &net.Dialer{}
	if runtime.GOOS == "linux" {
		d.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+number/portsAnAddress))} //nolint:gosec // at most 15,000 of them
	}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect (does the limit of open files allow as many?): %w", err)
	}
	return conn, nil
}
