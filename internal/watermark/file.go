package watermark

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// fileName is the file's name in the directory of a process.
const fileName = "last-known-mark.json"

// read returns the copy of the mark; a zero one if there is none.
func read(dir string) (m Mark, err error) {
	text, err := os.ReadFile(filepath.Join(dir, fileName)) //nolint:gosec // the directory is the configuration's
	if errors.Is(err, fs.ErrNotExist) {
		return Mark{}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return Mark{}, fmt.Errorf("read the last known mark of the database in %s (remove it only if the database was not restored since): %w", dir, err)
	}
	return m, nil
}

// write replaces the copy of the mark: a crash leaves the old one or the new one.
func write(dir string, m Mark) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode the mark: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep the mark: %w", err)
	}
	f, err := os.CreateTemp(dir, fileName+".*")
	if err != nil {
		return fmt.Errorf("keep the mark: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, fileName))
	}
	if err != nil {
		return fmt.Errorf("keep the mark: %w", err)
	}
	return nil
}
