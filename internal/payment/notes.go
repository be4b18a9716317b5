package payment

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// NoteKind says what a note is of.
type NoteKind string

// The kinds of notes.
const (
	// NotePress is a command that was executed, a pay aside: that is the first
	// entry of the attempt's own log.
	NotePress NoteKind = "press"
	// NoteReuse is a command that came again, NoteRefused one that was refused
	// because of what was under way or done.
	NoteReuse   NoteKind = "reuse"
	NoteRefused NoteKind = "refused"
	// NoteCall is a call to the provider that may move something, NotePoll a
	// question to it.
	NoteCall NoteKind = "call"
	NotePoll NoteKind = "poll"
	// NoteDuplicate is a webhook that came again under its id.
	NoteDuplicate NoteKind = "duplicate"
)

// Note is what happened around an attempt and is written by no transaction of
// its own. It names the attempt by what whoever noted it knew: the id, the order
// alone, a name at an account, a refund, or an event of an account.
type Note struct {
	ID        uuid.UUID
	Kind      NoteKind
	OrderID   OrderID
	AttemptID AttemptID
	Account   string
	Name      string
	RefundID  RefundID
	EventID   string

	// What is the command or the call: pay, confirm, charge, lookup, …
	What string
	// Actor is who pressed, as role:name; Key, the key of the press or the call.
	Actor, Key string
	// Outcome is what came of it, in one word.
	Outcome string
	// Times is how often the same happened from At until Until; of a call, Until is
	// its end. Both are by the process's clock.
	Times     int
	At, Until time.Time
}

// NoteStore keeps notes.
type NoteStore interface {
	// NotesInsert appends notes. The same again is not written twice, what names no
	// attempt and no order is left out.
	NotesInsert(ctx context.Context, notes []Note) error
}

// maxNotes bounds what is gathered between two writes.
const maxNotes = 4096

// Notes gathers notes in memory, the same ones into one, and writes many at once:
// nobody who pays waits for them. A process that dies loses those since its last
// Flush. It is safe for concurrent use.
type Notes struct {
	store NoteStore
	now   func() time.Time

	flushing sync.Mutex
	mu       sync.Mutex
	gathered map[Note]*Note
	lost     atomic.Int64
}

// NewNotes returns notes that are written by Flush. The clock must carry a
// monotonic reading.
func NewNotes(store NoteStore, now func() time.Time) *Notes {
	return &Notes{store: store, now: now, gathered: map[Note]*Note{}}
}

// Lost counts the notes that could not be kept.
func (n *Notes) Lost() int64 { return n.lost.Load() }

// add gathers a note. What differs only in time from another is counted there.
func (n *Notes) add(note Note) {
	same := note
	same.ID, same.Times, same.At, same.Until = uuid.Nil, 0, time.Time{}, time.Time{}
	if note.Kind == NoteCall || note.Kind == NotePoll {
		same.ID = note.ID
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.gathered[same]
	switch {
	case before != nil:
		before.Times += note.Times
		before.At, before.Until = earlier(before.At, note.At), later(before.Until, note.Until)
	case len(n.gathered) >= maxNotes:
		n.lost.Add(int64(note.Times))
	default:
		n.gathered[same] = &note
	}
}

// earlier and later go by the clock on the wall, as the storage does: it may have
// been set back between two times.
func earlier(a, b time.Time) time.Time {
	if b.Round(0).Before(a.Round(0)) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.Round(0).After(a.Round(0)) {
		return b
	}
	return a
}

// Flush writes what was gathered, also if ctx ends meanwhile: nobody would know
// whether it was written. While the storage is gone the notes stay for the next time;
// what it refuses is lost and counted.
func (n *Notes) Flush(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	n.flushing.Lock()
	defer n.flushing.Unlock()
	n.mu.Lock()
	notes := make([]Note, 0, len(n.gathered))
	for _, note := range n.gathered {
		notes = append(notes, *note)
	}
	clear(n.gathered)
	n.mu.Unlock()
	if len(notes) == 0 {
		return nil
	}
	err := n.store.NotesInsert(ctx, notes)
	switch {
	case errors.Is(err, ErrUnavailable):
		for _, note := range notes {
			n.add(note)
		}
	case err != nil:
		n.lost.Add(int64(len(notes)))
	}
	return err
}

// noted returns a note of now.
func (n *Notes) noted(kind NoteKind, what string, at time.Time) Note {
	return Note{ID: uuid.Must(uuid.NewV7()), Kind: kind, What: what, Times: 1, At: at, Until: at}
}
