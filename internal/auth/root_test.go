package auth_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/auth"
	"github.com/paylatch/paylatch/internal/config"
)

func TestRootSecretIsConfigured(t *testing.T) {
	t.Parallel()
	c := &config.Config{
		EncryptionKey: config.Secret(base64.StdEncoding.EncodeToString(root)),
		Auth:          config.Auth{HS256Secret: config.Secret(secret)},
	}
	got, err := auth.RootSecret(c)
	require.NoError(t, err)
	require.Equal(t, root, got)
	c.EncryptionKey = ""
	got, err = auth.RootSecret(c)
	require.NoError(t, err)
	require.Equal(t, secret, got)
}

func TestRootSecretIsMadeOnce(t *testing.T) {
	t.Parallel()
	c := &config.Config{DataDir: filepath.Join(t.TempDir(), "new", "data")}
	made := make([][]byte, 16)
	var wg sync.WaitGroup
	for i := range made {
		wg.Go(func() {
			secret, err := auth.RootSecret(c)
			if err != nil {
				t.Error(err)
			}
			made[i] = secret
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

func TestRootSecretIsNotReplaced(t *testing.T) {
	t.Parallel()
	c := &config.Config{DataDir: t.TempDir()}
	path := filepath.Join(c.DataDir, "secret")
	require.NoError(t, os.WriteFile(path, []byte("half"), 0o600))
	_, err := auth.RootSecret(c)
	require.ErrorContains(t, err, "encryption_key")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "half", string(content))
}
