package auth_test

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/setup/config"
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

func TestMarks(t *testing.T) {
	t.Parallel()
	key := func(id, text string) config.EncryptionKey {
		return config.EncryptionKey{ID: id, Key: config.Secret(base64.StdEncoding.EncodeToString([]byte(text)))}
	}
	of := func(user string, keys ...config.EncryptionKey) [][]byte {
		marks, err := auth.Marks(&config.Config{DatabaseURL: "postgres://db", EncryptionKeys: keys})(user)
		require.NoError(t, err)
		return marks
	}
	k1, k2 := key("k1", "11111111111111111111111111111111"), key("k2", "22222222222222222222222222222222")
	one, both := of("ann", k1), of("ann", k2, k1)
	require.Len(t, both, 2)
	require.Equal(t, one[0], both[1], "the key of before finds it behind the new one")
	require.NotEqual(t, both[0], both[1])
	require.NotEqual(t, one, of("bob", k1))
	_, err := auth.Marks(&config.Config{DatabaseURL: "postgres://db"})("ann")
	require.ErrorContains(t, err, "encryption_keys: use the service's keys")
}
