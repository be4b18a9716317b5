package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/paylatch/paylatch/internal/platform/datadir"
)

// journal is an append-only file of lines. A written line survives the end of the
// process; a synced one survives the end of the machine.
type journal struct {
	file *os.File // nil: nothing is kept

	mu      sync.Mutex
	written int64
	err     error // the first failure; after it nothing is accepted

	syncing sync.Mutex
	synced  int64
}

// openJournal passes each complete line to read. An incomplete last line is an
// interrupted write, and so never acknowledged: it is removed.
func openJournal(path string, read func(line []byte) error) (*journal, error) {
	if path == "" {
		return &journal{}, nil
	}
	if err := datadir.Make(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	j := &journal{file: file}
	if err := j.load(read); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return j, nil
}

func (j *journal) load(read func(line []byte) error) error {
	if err := datadir.Lock(j.file); err != nil {
		return fmt.Errorf("lock (is another sandbox running?): %w", err)
	}
	in := bufio.NewReader(j.file)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return j.cut()
		}
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		if err := read(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		j.written += int64(len(line))
	}
}

func (j *journal) cut() error {
	if err := j.file.Truncate(j.written); err != nil {
		return fmt.Errorf("truncate: %w", err)
	}
	if _, err := j.file.Seek(j.written, io.SeekStart); err != nil {
		return fmt.Errorf("seek: %w", err)
	}
	return nil
}

// append writes one line; after a failure the journal accepts no more, because half a
// line in the middle would hide all that follows.
func (j *journal) append(line []byte) error {
	if j.file == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		j.err = fmt.Errorf("write journal: %w", err)
		return j.err
	}
	j.written += int64(len(line)) + 1
	return nil
}

// sync returns when everything written before it is on disk. One fsync serves all
// waiters.
func (j *journal) sync() error {
	if j.file == nil {
		return nil
	}
	mine, err := j.position()
	if err != nil {
		return err
	}
	j.syncing.Lock()
	defer j.syncing.Unlock()
	if j.synced >= mine {
		return nil
	}
	upTo, err := j.position()
	if err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return j.fail(fmt.Errorf("sync journal: %w", err))
	}
	j.synced = upTo
	return nil
}

func (j *journal) position() (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.written, j.err
}

func (j *journal) fail(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err = err
	return err
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	if err := errors.Join(j.sync(), j.file.Close()); err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}
