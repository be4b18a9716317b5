package devpg

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/paylatch/paylatch/internal/platform/datadir"
)

// relocate makes a directory that holds no data yet a link to one below elsewhere. The name there is made of the path, so that the
// same data is found again when the link was removed.
func relocate(dir, elsewhere string) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(path, "data")); err == nil {
		return fmt.Errorf("directory %s holds data and is %w", path, ErrUnreachable)
	}
	sum := sha256.Sum256([]byte(path))
	target := filepath.Join(elsewhere, "dev-"+hex.EncodeToString(sum[:6]))
	if err := errors.Join(datadir.Make(target), os.RemoveAll(path), os.Symlink(target, path)); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	return nil
}
