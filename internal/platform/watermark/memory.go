package watermark

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/platform/datadir"
)

const (
	// block is the size of an entry of the file. It has room for the longest order id, with every character escaped.
	block = 1024
	// blocks is the number of entries that a new file has room for.
	blocks = 64
	// most bounds the number of entries, of a process that does not get to show that it lives.
	most = 1 << 14
	// neighbours is how many processes may share a directory.
	neighbours = 64
)

var (
	// errCrowded is returned for a directory that too many processes share.
	errCrowded = errors.New("too many processes share the directory")
	// errLong is returned for an entry that is longer than its place.
	errLong = errors.New("the entry is too long")
)

// head is the first entry of the file.
type head struct {
	// Process is the id under which the process is in the database.
	Process uuid.UUID `json:"process"`
	// Mark is the mark that the process has seen last, of the server that has its commits.
	Mark Mark `json:"mark"`
	// BeatAt is the time of the last acknowledged heartbeat.
	BeatAt time.Time `json:"beat_at"`
	// Passed is the number of the last entry before a heartbeat on the same server.
	Passed int64 `json:"passed"`
	// Boot is the run of the machine. After another one the file may lack entries that were not on the disk.
	Boot string `json:"boot"`
	// Closed is set once the process has ended in order, with everything on the disk.
	Closed bool `json:"closed"`
	// Unsure is set after a crash of the machine, until the process has committed again.
	Unsure bool `json:"unsure"`
}

// entry is a commit with its number.
type entry struct {
	Number int64  `json:"nth"`
	Commit Commit `json:"commit"`
}

// memory has the commits that a process has acknowledged since its last heartbeat but one. It keeps them in a file, and
// the lock of the file while the process lives. Each commit is in the file before its caller goes on: a kill loses none of them, only a
// crash of the machine may. It is safe for concurrent use.
type memory struct {
	mu   sync.Mutex
	file *os.File
	head head
	// places are the entries, as in the file behind the head; free are the places of entries that have passed.
	places []entry
	free   []int
	number int64
	// begun is the number of the last entry before the last heartbeat, which is not confirmed yet; -1 for none.
	begun int64
	// failing is the first failure of the file; full is set once an entry had no place.
	failing error
	full    bool
}

// openMemory takes the first file of a directory that no other process has, with the commits of the process before. If there can be
// no file, the memory ends with the process.
func openMemory(dir, boot string) (*memory, error) {
	failed := datadir.Make(dir)
	for n := range neighbours {
		path := filepath.Join(dir, fmt.Sprintf("last-commits-%d", n))
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the directory is the configuration's
		if err != nil {                                           // another user's
			failed = err
			continue
		}
		if !datadir.Try(f) {
			_ = f.Close()
			continue
		}
		m := &memory{file: f, begun: -1}
		if err := m.load(boot); err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("read the last commits in %s (remove the file only if the database has not been restored since then): %w", path, err)
		}
		return m, nil
	}
	if failed == nil {
		failed = errCrowded
	}
	return &memory{head: head{Process: uuid.New()}, begun: -1, failing: fmt.Errorf("keep the last commits: %w", failed)}, nil
}

// load reads the file of the process before, or fills a new one.
func (m *memory) load(boot string) error {
	text, err := os.ReadFile(m.file.Name())
	if err != nil {
		return err //nolint:wrapcheck // openMemory says which file it is
	}
	if len(text) == 0 {
		if _, err := m.file.WriteAt(make([]byte, blocks*block), 0); err != nil { // a disk that fills up later has room for these
			return err //nolint:wrapcheck // openMemory says which file it is
		}
		m.head = head{Process: uuid.New(), Boot: boot}
		return m.write(0, m.head)
	}
	written := slices.Collect(slices.Chunk(text, block))
	if err := json.Unmarshal(trim(written[0]), &m.head); err != nil {
		return err //nolint:wrapcheck // openMemory says which file it is
	}
	m.number = m.head.Passed
	for _, w := range written[1:] {
		var e entry
		if w = trim(w); len(w) > 0 {
			if err := json.Unmarshal(w, &e); err != nil {
				return err //nolint:wrapcheck // openMemory says which file it is
			}
		}
		m.places, m.number = append(m.places, e), max(m.number, e.Number)
	}
	m.tidy()
	m.head.Unsure = m.head.Unsure || !m.head.Closed && m.head.Boot != boot
	m.head.Boot, m.head.Closed = boot, false
	return m.write(0, m.head)
}

func trim(entry []byte) []byte { return bytes.TrimRight(entry, " \x00") }

// tidy frees the places of the entries that have passed.
func (m *memory) tidy() {
	m.free = m.free[:0]
	for i := range m.places {
		if m.places[i].Number <= m.head.Passed {
			m.free = append(m.free, i)
		}
	}
}

// remember adds an acknowledged commit.
func (m *memory) remember(c Commit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.number++
	place := len(m.places)
	switch last := len(m.free) - 1; {
	case last >= 0:
		place, m.free = m.free[last], m.free[:last]
	case place == most:
		m.full = true
		return
	default:
		m.places = append(m.places, entry{})
	}
	m.places[place] = entry{m.number, c}
	m.failed(m.write(place+1, m.places[place]))
}

// now is the number of the last entry.
func (m *memory) now() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.number
}

// beat notes an acknowledged heartbeat, which was sent after the entries up to a number.
func (m *memory) beat(begun int64, at time.Time, mark Mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun = begun
	m.head.BeatAt, m.head.Mark = at, mark
	m.failed(m.write(0, m.head))
}

// failure returns the first failure of the file.
func (m *memory) failure() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failing
}

// confirm notes that the server has not changed since the last heartbeat. If the database has this heartbeat, it has all entries before.
func (m *memory) confirm() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.begun < 0 {
		return
	}
	m.head.Passed, m.head.Unsure, m.full, m.begun = m.begun, false, false, -1
	m.tidy()
}

// forget drops everything: the database is a new one.
func (m *memory) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun, m.full = -1, false
	m.head.BeatAt, m.head.Mark, m.head.Passed, m.head.Unsure = time.Time{}, Mark{}, m.number, false
	m.tidy()
	m.failed(m.write(0, m.head))
}

// known returns the head and the commits, and whether there were more.
func (m *memory) known() (h head, commits []Commit, full bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.places {
		if m.places[i].Number > m.head.Passed {
			commits = append(commits, m.places[i].Commit)
		}
	}
	return m.head, commits, m.full
}

// close puts everything on the disk and gives the file back.
func (m *memory) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file == nil || m.failing != nil {
		return nil
	}
	m.head.Closed = !m.full
	err := errors.Join(m.write(0, m.head), m.file.Sync(), m.file.Close())
	m.file = nil
	return err
}

func (m *memory) write(place int, value any) error {
	if m.file == nil {
		return nil
	}
	text, err := json.Marshal(value)
	if err == nil && len(text) > block {
		err = errLong
	}
	if err == nil {
		text = append(text, bytes.Repeat([]byte{' '}, block-len(text))...)
		_, err = m.file.WriteAt(text, int64(place)*block)
	}
	if err != nil {
		return fmt.Errorf("keep the last commits: %w", err)
	}
	return nil
}

// failed notes the first failure. A file that may lack a commit must not answer for a process that has ended, so it is removed.
func (m *memory) failed(err error) {
	if err != nil && m.failing == nil {
		m.failing = errors.Join(err, os.Remove(m.file.Name()))
	}
}
