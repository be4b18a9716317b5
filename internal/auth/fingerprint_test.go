package auth_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/auth"
)

func TestFingerprint(t *testing.T) {
	t.Parallel()
	one, err := auth.NewFingerprint(ring())
	require.NoError(t, err)
	again, err := auth.NewFingerprint(ring())
	require.NoError(t, err)
	other, err := auth.NewFingerprint([]auth.Key{{ID: "k9", Secret: secret}})
	require.NoError(t, err)
	require.Equal(t, one([]byte("whsec_a")), again([]byte("whsec_a")))
	require.NotEqual(t, one([]byte("whsec_a")), one([]byte("whsec_b")))
	require.NotEqual(t, one([]byte("whsec_a")), other([]byte("whsec_a")), "of another key")
	require.Len(t, one(nil), 32)
	_, err = auth.NewFingerprint(nil)
	require.Error(t, err)
}
