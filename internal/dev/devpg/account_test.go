package devpg

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAsOrdinaryUser runs this package's tests again as the user nobody, from a copy of this binary that this user can read.
func TestAsOrdinaryUser(t *testing.T) {
	t.Parallel()
	needRoot(t)
	dir := openDir(t)
	copyFile(t, os.Args[0], filepath.Join(dir, "devpg.test"))
	cmd := exec.Command(filepath.Join(dir, "devpg.test"), "-test.run=KeepsTheData|KilledParent")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestRootWithoutUserNamespace is root in a container that forbids them, on the data of a root that had one.
func TestRootWithoutUserNamespace(t *testing.T) {
	t.Parallel()
	needRoot(t)
	dir := filepath.Join(openDir(t), "made", "postgres")
	for _, candidates := range [][]account{accounts(), accounts()[len(namespaced()):], accounts()} {
		srv, err := startAs(t.Context(), Config{Dir: dir}, candidates)
		require.NoError(t, err)
		require.NoError(t, srv.Stop())
	}
}

func TestUnreachableDirectory(t *testing.T) {
	t.Parallel()
	needRoot(t)
	above := filepath.Join(openDir(t), "above")
	require.NoError(t, os.Mkdir(above, 0o700))
	start := func() error {
		srv, err := startAs(t.Context(), Config{Dir: filepath.Join(above, "made", "postgres")}, accounts()[len(namespaced()):])
		if err != nil {
			return err
		}
		return srv.Stop()
	}
	err := start()
	require.ErrorIs(t, err, ErrUnreachable)
	require.ErrorContains(t, err, above+": closed")
	require.ErrorContains(t, err, "chmod o+x")
	require.NoError(t, os.Chmod(above, 0o701))
	require.NoError(t, start(), "that was all")
}

func TestUnreachableDirectoryGivesWay(t *testing.T) {
	t.Parallel()
	needRoot(t)
	above, elsewhere := filepath.Join(openDir(t), "above"), filepath.Join(openDir(t), "elsewhere")
	require.NoError(t, os.Mkdir(above, 0o700))
	c := Config{Dir: filepath.Join(above, "made", "postgres"), Elsewhere: elsewhere}
	for range 2 {
		srv, err := startAs(t.Context(), c, accounts()[len(namespaced()):])
		require.NoError(t, err)
		require.Equal(t, elsewhere, filepath.Dir(srv.Dir()))
		_, running := Running(c.Dir, "postgres")
		require.True(t, running, "found by the path that was asked for")
		require.NoError(t, srv.Stop())
		link, err := os.Readlink(c.Dir)
		require.NoError(t, err)
		require.Equal(t, srv.Dir(), link)
	}
	require.NoError(t, os.Remove(c.Dir))
	srv, err := startAs(t.Context(), c, accounts()[len(namespaced()):])
	require.NoError(t, err, "the same data again, though the link is gone")
	require.NoError(t, srv.Stop())
}

func TestUnreachableDataStays(t *testing.T) {
	t.Parallel()
	needRoot(t)
	above := filepath.Join(openDir(t), "above")
	require.NoError(t, os.Mkdir(above, 0o701))
	c := Config{Dir: filepath.Join(above, "made", "postgres"), Elsewhere: openDir(t)}
	srv, err := startAs(t.Context(), c, accounts()[len(namespaced()):])
	require.NoError(t, err)
	require.NoError(t, srv.Stop())
	require.NoError(t, os.Chmod(above, 0o700))
	_, err = startAs(t.Context(), c, accounts()[len(namespaced()):])
	require.ErrorIs(t, err, ErrUnreachable)
	require.DirExists(t, filepath.Join(c.Dir, "data"))
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
}

// openDir is under /tmp, as the directories of t.TempDir are closed to other users.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "devpg-test-") //nolint:usetesting // see above
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o777))
	return dir
}

// copyFile leaves the copying to another process: a file that this one had open
// for writing could not be run while a child of another test still holds it.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	out, err := exec.Command("cp", from, to).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.Chmod(to, 0o755))
}
