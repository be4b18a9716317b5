package outbox

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"time"
	"unicode"
)

const (
	// maxReaders bounds the memory, and the labels of the metrics.
	maxReaders = 100
	// longestReader bounds a name, in bytes; of a longer one nameDigits digits of a hash stand for the rest.
	longestReader = 64
	nameDigits    = 8
)

// Readers is how far the readers of the feed are, as far as this process has served them. It has the maxReaders that read last. The
// zero value is one. It is safe for concurrent use.
type Readers struct {
	mu    sync.Mutex
	reads map[string]read
}

// read is the last read of a reader.
type read struct {
	after Position
	at    time.Time
}

// Reader is how far a reader of the feed is.
type Reader struct {
	// Name is at most longestReader bytes of printable text.
	Name string
	// Behind counts the events after its cursor, of any type.
	Behind int64
	// Since is how long ago it read.
	Since time.Duration
}

// Note records a read that began at a time. The reader has acted on the events up to the read's cursor. A read that began
// before a recorded read of the same reader changes nothing, since long polls end in any order.
func (r *Readers) Note(subject string, after Position, at time.Time) {
	name := readerName(subject)
	r.mu.Lock()
	defer r.mu.Unlock()
	last, found := r.reads[name]
	if found && at.Before(last.at) {
		return
	}
	if r.reads == nil {
		r.reads = map[string]read{}
	}
	if !found && len(r.reads) >= maxReaders {
		r.forgetOldest()
	}
	r.reads[name] = read{after, at}
}

// forgetOldest drops the reader that has not read for the longest time. The caller has the lock.
func (r *Readers) forgetOldest() {
	var oldest string
	var at time.Time
	for name, last := range r.reads {
		if at.IsZero() || last.at.Before(at) {
			oldest, at = name, last.at
		}
	}
	delete(r.reads, oldest)
}

// List returns how far the readers are from a head, in no order.
func (r *Readers) List(head Position, now time.Time) []Reader {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Reader, 0, len(r.reads))
	for name, last := range r.reads {
		list = append(list, Reader{Name: name, Behind: max(int64(head-last.after), 0), Since: max(now.Sub(last.at), 0)})
	}
	return list
}

// readerName is a subject as a name. Subjects that differ have names that differ.
func readerName(subject string) string {
	name := strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, subject)
	if name == subject && len(name) <= longestReader {
		return name
	}
	const kept = longestReader - nameDigits - len("~")
	if len(name) > kept {
		name = strings.ToValidUTF8(name[:kept], "")
	}
	sum := sha256.Sum256([]byte(subject))
	return name + "~" + hex.EncodeToString(sum[:])[:nameDigits]
}
