package api

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestRoom(t *testing.T) {
	t.Parallel()
	var u room
	for _, size := range []int{0, 1, bodyPart - 1, bodyPart, bodyPart + 1, bodyPart + uploadChunk, 1 << 20} {
		text := bytes.Repeat([]byte("0123456789"), size/10+1)[:size]
		for _, announced := range []int64{-1, int64(size), int64(size) / 2} {
			body, err := u.read(iotest.HalfReader(bytes.NewReader(text)), announced, "a")
			require.NoError(t, err)
			require.True(t, bytes.Equal(text, body), "%d of %d", announced, size)
		}
	}
	require.Zero(t, u.used)
	require.Empty(t, u.peers)
	require.LessOrEqual(t, len(u.free), keptChunks)
	_, err := u.read(io.MultiReader(strings.NewReader("a"), iotest.ErrReader(io.ErrUnexpectedEOF)), 2, "a")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// A network has at most half of the room, and all of it comes back.
func TestRoom_room(t *testing.T) {
	t.Parallel()
	var u room
	hold := func(peer string, n int) (held [][]byte) {
		for range n {
			chunk, ok := u.take(peer)
			require.True(t, ok)
			held = append(held, chunk)
		}
		return held
	}
	large := bytes.NewReader(make([]byte, bodyPart+1))
	a := hold("a", peerChunks)
	_, err := u.read(large, -1, "a")
	require.ErrorIs(t, err, errNoRoom)
	small, err := u.read(strings.NewReader("small"), 5, "a")
	require.NoError(t, err, "what needs no room is read all the same")
	require.Equal(t, "small", string(small))
	b := hold("b", peerChunks)
	_, err = u.read(bytes.NewReader(make([]byte, bodyPart+1)), -1, "c")
	require.ErrorIs(t, err, errNoRoom)
	u.giveBack("a", a)
	u.giveBack("b", b)
	require.Zero(t, u.used)
	failing := io.MultiReader(bytes.NewReader(make([]byte, bodyPart+1)), iotest.ErrReader(errors.New("gone")))
	_, err = u.read(failing, -1, "a")
	require.Error(t, err)
	require.Zero(t, u.used)
}
