// Package activity records commands, provider calls and duplicate webhooks. It does so outside of the transactions of
// attempts. Support's timeline contains them.
package activity

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/payment"
)

// NoteKind is the kind of a note.
type NoteKind string

// The kinds of notes.
const (
	// NoteCommand is a command that was executed, except pay: that is the first entry of
	// the attempt's own log.
	NoteCommand NoteKind = "press"
	// NoteReuse is a repeated command, NoteRefused a command that was refused because of an earlier command, in progress or
	// done.
	NoteReuse   NoteKind = "reuse"
	NoteRefused NoteKind = "refused"
	// NoteCall is a call to the provider that may move money, NotePoll a lookup.
	NoteCall NoteKind = "call"
	NotePoll NoteKind = "poll"
	// NoteDuplicate is a webhook with the id of an earlier one.
	NoteDuplicate NoteKind = "duplicate"
)

// Note is something that happened around an attempt outside of its transactions. It
// names the attempt by the id, the order alone, a name at an account, a refund, or an
// event of an account, whichever was available.
type Note struct {
	ID        uuid.UUID
	Kind      NoteKind
	OrderID   payment.OrderID
	AttemptID payment.AttemptID
	Account   string
	Name      string
	RefundID  payment.RefundID
	EventID   string

	// What is the name of the command or the call: pay, confirm, charge, lookup, …
	What string
	// Actor is the requester, as role:name; Key, the key of the command or the call.
	Actor, Key string
	// Outcome is the outcome, in one word.
	Outcome string
	// Times is how often the same happened from At until Until; for a call, Until is
	// its end. Both are by the process's clock.
	Times     int
	At, Until time.Time
}

// NoteStore stores notes.
type NoteStore interface {
	// NotesInsert appends notes. Each note is written once; a note that names no attempt and no order is left out.
	NotesInsert(ctx context.Context, notes []Note) error
}

// maxNotes bounds the notes between two writes.
const maxNotes = 4096

// Notes collects notes in memory, coalesces equal ones and writes many at once, so that no payment waits for them. A process
// that dies loses the notes since its last Flush. Notes is safe for concurrent use.
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

// Lost returns the number of dropped notes.
func (n *Notes) Lost() int64 { return n.lost.Load() }

// add collects a note. If an equal note with another time is there already, it counts there.
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

// earlier and later compare wall clocks, as the storage does: the clock may have been
// set back between two times.
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

// Flush writes the collected notes, even if ctx ends meanwhile: the outcome would be unknown. While the storage is unavailable
// the notes stay for the next call. Notes that the storage rejects are dropped and counted.
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
	case errors.Is(err, payment.ErrUnavailable):
		for _, note := range notes {
			n.add(note)
		}
	case err != nil:
		n.lost.Add(int64(len(notes)))
	}
	return err
}

// noted returns a note at a time.
func (n *Notes) noted(kind NoteKind, what string, at time.Time) Note {
	return Note{ID: payment.OnlyCell.NewID(), Kind: kind, What: what, Times: 1, At: at, Until: at}
}
