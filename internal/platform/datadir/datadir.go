// Package datadir makes the directories of the program's files.
package datadir

import "os"

// Make makes a directory and those above it, as far as they are missing. Others may pass through but see no names: started by root,
// PostgreSQL may have to run as another user inside. What is secret there is closed by itself.
func Make(path string) error {
	return os.MkdirAll(path, 0o711) //nolint:gosec,wrapcheck // see above; the error names the path
}
