package auth_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/setup/config"
)

func TestKeysAreConfigured(t *testing.T) {
	t.Parallel()
	encode := func(key []byte) config.Secret { return config.Secret(base64.StdEncoding.EncodeToString(key)) }
	got, err := auth.Keys(&config.Config{EncryptionKeys: []config.EncryptionKey{{ID: "k2", Key: encode(secret)}, {ID: "k1", Key: encode(root)}}})
	require.NoError(t, err)
	require.Equal(t, []auth.Key{{ID: "k2", Secret: secret}, {ID: "k1", Secret: root}}, got)
}

func TestKeyIsMadeOnce(t *testing.T) {
	t.Parallel()
	c := &config.Config{DataDir: filepath.Join(t.TempDir(), "new", "data")}
	made := make([][]byte, 16)
	var wg sync.WaitGroup
	for i := range made {
		wg.Go(func() {
			keys, err := auth.Keys(c)
			if err != nil || len(keys) != 1 {
				t.Error(keys, err)
				return
			}
			made[i] = keys[0].Secret
		})
	}
	wg.Wait()
	require.Len(t, made[0], 32)
	for _, secret := range made {
		require.Equal(t, made[0], secret, "all who start at once have the same")
	}
	info, err := os.Stat(filepath.Join(c.DataDir, "secret"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	left, err := os.ReadDir(c.DataDir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no drafts are left")
}

func TestKeyIsNotReplaced(t *testing.T) {
	t.Parallel()
	c := &config.Config{DataDir: t.TempDir()}
	path := filepath.Join(c.DataDir, "secret")
	require.NoError(t, os.WriteFile(path, []byte("half"), 0o600))
	_, err := auth.Keys(c)
	require.ErrorContains(t, err, "encryption_keys")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "half", string(content))
}
