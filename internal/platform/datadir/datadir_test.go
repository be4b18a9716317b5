package datadir_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/datadir"
)

func TestOthersMayPassThroughWhatIsMade(t *testing.T) {
	t.Parallel()
	closed := filepath.Join(t.TempDir(), "closed")
	require.NoError(t, os.Mkdir(closed, 0o700))
	path := filepath.Join(closed, "above", "data")
	for range 2 {
		require.NoError(t, datadir.Make(path))
	}
	for dir, want := range map[string]fs.FileMode{path: 0o711, filepath.Dir(path): 0o711, closed: 0o700} {
		info, err := os.Stat(dir)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), "%s; what was there stays as it was", dir)
	}
}
