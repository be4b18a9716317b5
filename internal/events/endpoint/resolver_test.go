package endpoint_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// resolverTo resolves all names to one address, over a connection in memory that speaks DNS as over TCP: messages after
// their length (RFC 1035, 4.2.2).
func resolverTo(t *testing.T, address [4]byte) *net.Resolver {
	t.Helper()
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	return &net.Resolver{PreferGo: true, StrictErrors: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		serving.Go(func() {
			defer there.Close()
			for respond(there, address) == nil {
			}
		})
		return here, nil
	}}
}

// respond answers one question: an A record, and no record of another type.
func respond(conn net.Conn, address [4]byte) error {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return err
	}
	query := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, query); err != nil {
		return err
	}
	end := 12
	for query[end] != 0 {
		end += 1 + int(query[end])
	}
	end += 5 // the root, type and class
	answer := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, query[12:end]...)
	if kind := binary.BigEndian.Uint16(query[end-4:]); kind == 1 {
		answer[7] = 1
		answer = append(append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4), address[:]...)
	}
	_, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
	return err
}
