package api

import (
	"errors"
	"io"
	"sync"
)

const (
	// bodyPart is how much of a body needs no room: most commands
	// are smaller.
	bodyPart = 4 << 10
	// uploadChunk is the memory that a larger body reserves at a time, as it arrives.
	uploadChunk = 16 << 10
	// uploadChunks is the number of chunks for all bodies that are being read, 16 MiB. peerChunks is the number for
	// the bodies of one network.
	uploadChunks = 1024
	peerChunks   = uploadChunks / 2
	// keptChunks is how many free chunks are kept for the next bodies.
	keptChunks = 128
)

// errNoRoom is returned when the bodies that are being read take as much as they may.
var errNoRoom = errors.New("too many bodies are being read")

// room is the memory for bodies that are being read. An announced length reserves nothing; received bytes are held
// only until the deadline of the rest. It is safe for concurrent use; the zero value is ready.
type room struct {
	mu    sync.Mutex
	used  int
	peers map[string]int
	free  [][]byte
}

// read reads a body whole. It returns errNoRoom when it needs more than is left, and
// the errors of the reader.
func (r *room) read(from io.Reader, announced int64, peer string) ([]byte, error) {
	first := make([]byte, 0, firstPart(announced))
	parts := [][]byte{first}
	defer func() { r.giveBack(peer, parts[1:]) }()
	for {
		part := &parts[len(parts)-1]
		if len(*part) == cap(*part) {
			chunk, ok := r.take(peer)
			if !ok {
				return nil, errNoRoom
			}
			parts = append(parts, chunk)
			continue
		}
		n, err := from.Read((*part)[len(*part):cap(*part)])
		*part = (*part)[:len(*part)+n]
		switch {
		case errors.Is(err, io.EOF):
			return joined(parts), nil
		case err != nil:
			return nil, err //nolint:wrapcheck // the caller compares it
		}
	}
}

// firstPart is the size of a body's first part: one more than announced, so that the
// end is found without another.
func firstPart(announced int64) int64 {
	if announced < 0 {
		return bodyPart
	}
	return min(announced+1, bodyPart)
}

func joined(parts [][]byte) []byte {
	if len(parts) == 1 {
		return parts[0]
	}
	var size int
	for _, p := range parts {
		size += len(p)
	}
	body := make([]byte, 0, size)
	for _, p := range parts {
		body = append(body, p...)
	}
	return body
}

// take returns an empty chunk, if the peer may have one more.
func (r *room) take(peer string) ([]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used >= uploadChunks || r.peers[peer] >= peerChunks {
		return nil, false
	}
	if r.peers == nil {
		r.peers = make(map[string]int)
	}
	r.used++
	r.peers[peer]++
	if last := len(r.free) - 1; last >= 0 {
		chunk := r.free[last]
		r.free[last], r.free = nil, r.free[:last]
		return chunk, true
	}
	return make([]byte, 0, uploadChunk), true
}

func (r *room) giveBack(peer string, chunks [][]byte) {
	if len(chunks) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= len(chunks)
	if r.peers[peer] -= len(chunks); r.peers[peer] == 0 {
		delete(r.peers, peer)
	}
	for _, chunk := range chunks[:min(len(chunks), max(0, keptChunks-len(r.free)))] {
		r.free = append(r.free, chunk[:0])
	}
}
