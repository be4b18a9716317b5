package testdb

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where anyone may make directories the name may be another's, or lead elsewhere.
func TestPrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.True(t, private(filepath.Join(dir, "new")))
	require.True(t, private(filepath.Join(dir, "new")), "it is there already")
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "link")))
	require.False(t, private(filepath.Join(dir, "link")))
	if os.Getuid() == 0 {
		theirs := filepath.Join(dir, "theirs")
		require.NoError(t, os.Mkdir(theirs, 0o755))
		require.NoError(t, os.Chown(theirs, 65534, 65534))
		require.False(t, private(theirs))
	}
}
