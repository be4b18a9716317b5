package devpg

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/paylatch/paylatch/internal/platform/datadir"
)

// lockName is both the lock and the sign that a directory is ours.
const lockName = "devpg.lock"

// directory is a data directory that this process holds locked: no other process runs a server on it.
type directory struct {
	path     string
	password string
	lock     *os.File
}

// claim locks the directory, makes it when missing, and gives it to the account.
func claim(path string, a account) (*directory, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := checkOurs(path); err != nil {
		return nil, err
	}
	// One directory must have one name, since a server that was left behind is found by this name.
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	d := &directory{path: path}
	if err := d.acquire(); err != nil {
		return nil, err
	}
	if err := errors.Join(d.readPassword(), d.giveTo(a)); err != nil {
		return nil, errors.Join(err, d.release())
	}
	return d, nil
}

func checkOurs(path string) error {
	if err := datadir.Make(filepath.Dir(path)); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("data directory: %w", err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	isLock := func(e fs.DirEntry) bool { return e.Name() == lockName }
	if len(entries) > 0 && !slices.ContainsFunc(entries, isLock) {
		return fmt.Errorf("directory %s: %w", path, ErrForeign)
	}
	return nil
}

func (d *directory) acquire() error {
	f, err := os.OpenFile(filepath.Join(d.path, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := io.ReadAll(f)
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = fmt.Errorf("%w (pid %s)", ErrInUse, holder)
		}
		return fmt.Errorf("directory %s: %w", d.path, err)
	}
	d.lock = f
	pid := strconv.Itoa(os.Getpid())
	if _, err := f.WriteAt([]byte(pid), 0); err != nil {
		return errors.Join(err, d.release())
	}
	if err := f.Truncate(int64(len(pid))); err != nil {
		return errors.Join(err, d.release())
	}
	return nil
}

// Held reports whether a process runs a server on the directory, or is about to.
func Held(dir string) bool {
	f, err := os.Open(filepath.Join(dir, lockName)) //nolint:gosec // the caller's directory
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

func (d *directory) release() error {
	if err := d.lock.Close(); err != nil {
		return fmt.Errorf("release %s: %w", d.path, err)
	}
	return nil
}

// readPassword makes the password at the first start. Only TCP needs it: the socket's directory is closed to others.
func (d *directory) readPassword() error {
	name := filepath.Join(d.path, "password")
	b, err := os.ReadFile(name) //nolint:gosec // the caller's directory
	if errors.Is(err, fs.ErrNotExist) {
		b = []byte(rand.Text())
		err = os.WriteFile(name, b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("password of the data directory: %w", err)
	}
	d.password = strings.TrimSpace(string(b))
	return nil
}

// giveTo changes the owner of everything when root started the server by other means before.
func (d *directory) giveTo(a account) error {
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return fmt.Errorf("owner of %s: %w", d.path, err)
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !owns(a, e):
			return root.Lchown(name, a.uid, a.gid)
		case name == "data":
			return fs.SkipDir // its files are the same owner's
		}
		return nil
	})
	if err = errors.Join(err, root.Close()); err != nil {
		return fmt.Errorf("owner of %s: %w", d.path, err)
	}
	return nil
}

func owns(a account, e fs.DirEntry) bool {
	info, err := e.Info()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == a.uid
}
