package testdb

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

// Ports are given from below those that systems give to any connection (Linux from 32768, others from 49152).
const (
	lowest = 20_000
	count  = 6_000
	// apart is how far from each other processes begin that were started one after the other.
	apart = 97
)

var given atomic.Int64 //nolint:gochecknoglobals // no port is given twice

// Address returns a free address of 127.0.0.1 for a program that takes an address to listen at. It stays the test's own until the test
// ends, also while nothing listens there: the test listens meanwhile at the port that is count higher, and the other processes that ask
// for an address leave a port alone whose higher one is taken.
func Address(tb testing.TB) string {
	tb.Helper()
	for range count {
		port := lowest + (os.Getpid()*apart+int(given.Add(1)))%count
		guard, err := listen(tb, port+count)
		if err != nil {
			continue
		}
		l, err := listen(tb, port)
		if err != nil {
			_ = guard.Close()
			continue
		}
		tb.Cleanup(func() { _ = guard.Close() })
		if err := l.Close(); err != nil {
			tb.Fatal(err)
		}
		return l.Addr().String()
	}
	tb.Fatal("no port is free")
	panic("unreachable")
}

func listen(tb testing.TB, port int) (net.Listener, error) {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("port %d is taken: %w", port, err)
	}
	return l, nil
}
