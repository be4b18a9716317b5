package watermark

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"
)

// fileName is the file's name in the directory of a process.
const fileName = "last-known-mark.json"

// auditName is the name of the file with the last head of the audit log.
const auditName = "last-known-audit.json"

// AuditHead is the last head of the audit log of a database that this service has seen.
type AuditHead struct {
	Database uuid.UUID `json:"database"`
	// Head is ENTRIES:HASH, as support.ParseHead reads it.
	Head string `json:"head"`
}

// AuditFile is the file in a directory that has the head.
func AuditFile(dir string) string { return filepath.Join(dir, auditName) }

// ReadAuditHead returns the head that is stored in a directory, or a zero one if there is no file.
func ReadAuditHead(dir string) (h AuditHead, err error) {
	if err := read(dir, auditName, &h); err != nil {
		return AuditHead{}, fmt.Errorf("read the last known head of the audit log in %s (remove it only if nothing was deleted from that log): %w", dir, err)
	}
	return h, nil
}

// WriteAuditHead keeps a head in a directory.
func WriteAuditHead(dir string, h AuditHead) error { return write(dir, auditName, h) }

// readMark returns the copy of the mark, or a zero one if there is no file.
func readMark(dir string) (m Mark, err error) {
	if err := read(dir, fileName, &m); err != nil {
		return Mark{}, fmt.Errorf("read the last known mark of the database in %s (remove it only if the database was not restored since): %w", dir, err)
	}
	return m, nil
}

// read reads a file into a value. The value stays as it is if there is no file.
func read(dir, name string, into any) error {
	text, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // the directory is the configuration's
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	return err //nolint:wrapcheck // the callers say which file it is
}

// write replaces a file: a crash leaves the old one or the new one.
func write(dir, name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode the mark: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep the mark: %w", err)
	}
	f, err := os.CreateTemp(dir, name+".*")
	if err != nil {
		return fmt.Errorf("keep the mark: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return fmt.Errorf("keep the mark: %w", err)
	}
	return nil
}
