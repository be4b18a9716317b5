package testdb

import (
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

// Free finds ports for programs that take an address to listen at.

// Ports are given from below those that systems give to any connection (Linux from 32768, others from 49152), each once: no other
// process takes one between its being found free and its being listened on, or while a program starts again.
const (
	lowest = 20_000
	count  = 12_000
	// apart is how far from each other processes begin that were started one after the other.
	apart = 97
)

var given atomic.Int64 //nolint:gochecknoglobals // no port is given twice

// Address returns one of 127.0.0.1 that is free.
func Address(tb testing.TB) string {
	tb.Helper()
	for range count {
		port := lowest + (os.Getpid()*apart+int(given.Add(1)))%count
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", address)
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			tb.Fatal(err)
		}
		return address
	}
	tb.Fatal("no port is free")
	panic("unreachable")
}
