package xaes

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// The vectors of the specification (https://c2sp.org/XAES-256-GCM).
func TestVectors(t *testing.T) {
	t.Parallel()
	const nonce, text = "ABCDEFGHIJKLMNOPQRSTUVWX", "XAES-256-GCM"
	for _, v := range []struct {
		key              byte
		additional, want string
	}{
		{1, "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"},
		{3, "c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"},
	} {
		c, err := New(bytes.Repeat([]byte{v.key}, keySize))
		require.NoError(t, err)
		sealed := c.(*aead).seal(nil, []byte(nonce), []byte(text), []byte(v.additional))
		require.Equal(t, v.want, hex.EncodeToString(sealed[nonceSize:]))
		opened, err := c.Open(nil, nil, sealed, []byte(v.additional))
		require.NoError(t, err)
		require.Equal(t, text, string(opened))
	}
}

func TestSeal(t *testing.T) {
	t.Parallel()
	c, err := New(make([]byte, keySize))
	require.NoError(t, err)
	one, two := c.Seal([]byte("head"), nil, []byte("text"), []byte("a")), c.Seal(nil, nil, []byte("text"), []byte("a"))
	require.Len(t, two, len("text")+c.Overhead())
	require.NotEqual(t, one[4:], two, "each text has a nonce of its own")
	opened, err := c.Open([]byte("head"), nil, two, []byte("a"))
	require.NoError(t, err)
	require.Equal(t, "headtext", string(opened))
	for i := range two {
		changed := bytes.Clone(two)
		changed[i] ^= 1
		_, err = c.Open(nil, nil, changed, []byte("a"))
		require.Error(t, err, "byte %d", i)
		_, err = c.Open(nil, nil, two[:i], []byte("a"))
		require.Error(t, err, "the first %d bytes", i)
	}
	_, err = c.Open(nil, nil, two, []byte("b"))
	require.Error(t, err)
	_, err = New(make([]byte, 16))
	require.Error(t, err)
}
