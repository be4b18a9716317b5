package api

import (
	"errors"
	"io"
	"sync"
)

const (
	// bodyPart is how much of a body is read without asking for room: most commands
	// are smaller.
	bodyPart = 4 << 10
	// uploadChunk is what a larger body gets room by, as it arrives.
	uploadChunk = 16 << 10
	// uploadChunks is how many chunks all bodies have that are being read, 16 MiB, and
	// peerChunks how many those of one network have.
	uploadChunks = 1024
	peerChunks   = uploadChunks / 2
	// keptChunks is how many that nobody needs are kept for the next.
	keptChunks = 128
)

// errNoRoom is returned when the bodies that are being read take as much as they may.
var errNoRoom = errors.New("too many bodies are being read")

// uploads is the room for bodies that are being read. What a sender announces costs
// nothing; what has arrived is held only as long as the rest may still come. It is
// safe for concurrent use; the zero value is ready.
type uploads struct {
	mu    sync.Mutex
	used  int
	peers map[string]int
	free  [][]byte
}

// read reads a body whole. It returns errNoRoom when it needs more than is left, and
// the errors of the reader.
func (u *uploads) read(r io.Reader, announced int64, peer string) ([]byte, error) {
	first := make([]byte, 0, firstPart(announced))
	parts := [][]byte{first}
	defer func() { u.giveBack(peer, parts[1:]) }()
	for {
		part := &parts[len(parts)-1]
		if len(*part) == cap(*part) {
			chunk, ok := u.take(peer)
			if !ok {
				return nil, errNoRoom
			}
			parts = append(parts, chunk)
			continue
		}
		n, err := r.Read((*part)[len(*part):cap(*part)])
		*part = (*part)[:len(*part)+n]
		switch {
		case errors.Is(err, io.EOF):
			return joined(parts), nil
		case err != nil:
			return nil, err //nolint:wrapcheck // the caller tells errors of reading apart
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
func (u *uploads) take(peer string) ([]byte, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.used >= uploadChunks || u.peers[peer] >= peerChunks {
		return nil, false
	}
	if u.peers == nil {
		u.peers = make(map[string]int)
	}
	u.used++
	u.peers[peer]++
	if last := len(u.free) - 1; last >= 0 {
		chunk := u.free[last]
		u.free[last], u.free = nil, u.free[:last]
		return chunk, true
	}
	return make([]byte, 0, uploadChunk), true
}

func (u *uploads) giveBack(peer string, chunks [][]byte) {
	if len(chunks) == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.used -= len(chunks)
	if u.peers[peer] -= len(chunks); u.peers[peer] == 0 {
		delete(u.peers, peer)
	}
	for _, chunk := range chunks[:min(len(chunks), max(0, keptChunks-len(u.free)))] {
		u.free = append(u.free, chunk[:0])
	}
}
