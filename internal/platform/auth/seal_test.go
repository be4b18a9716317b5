package auth_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

func TestSeal(t *testing.T) {
	t.Parallel()
	s, err := auth.NewSealer(ring())
	require.NoError(t, err)
	one, two := s.Seal([]byte("tok_success"), []byte("a")), s.Seal([]byte("tok_success"), []byte("a"))
	require.NotEqual(t, one, two)
	require.NotContains(t, string(one), "tok_success")
	text, err := s.Open(one, []byte("a"))
	require.NoError(t, err)
	require.Equal(t, "tok_success", string(text))

	_, err = s.Open(one, []byte("b"))
	require.ErrorIs(t, err, auth.ErrSealed, "sealed for another")
	for i := range one {
		changed := append([]byte(nil), one...)
		changed[i] ^= 1
		_, err = s.Open(changed, []byte("a"))
		require.ErrorIs(t, err, auth.ErrSealed)
		_, err = s.Open(one[:i], []byte("a"))
		require.ErrorIs(t, err, auth.ErrSealed)
	}
	other, err := auth.NewSealer([]auth.Key{{ID: "k1", Secret: secret}})
	require.NoError(t, err)
	_, err = other.Open(one, []byte("a"))
	require.ErrorIs(t, err, auth.ErrSealed, "another key of the same id")
	_, err = auth.NewSealer([]auth.Key{{ID: "k1", Secret: []byte("short")}})
	require.Error(t, err)
}

func TestSealText(t *testing.T) {
	t.Parallel()
	s, err := auth.NewSealer(ring())
	require.NoError(t, err)
	port := runner.Options{Seal: s.SealText, Open: s.OpenText}
	sealed, err := port.Seal("tok_1", []byte{1})
	require.NoError(t, err)
	token, err := port.Open(sealed, []byte{1})
	require.NoError(t, err)
	require.Equal(t, "tok_1", token)
	_, err = s.OpenText(sealed, []byte{2})
	require.ErrorIs(t, err, auth.ErrSealed)
}
