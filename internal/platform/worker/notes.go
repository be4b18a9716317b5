package worker

import (
	"context"
	"time"
)

// notesEvery is the interval between flushes of the notes.
const notesEvery = 500 * time.Millisecond

// Notes stores notes or the access log.
type Notes interface {
	// Flush writes the notes since the last call.
	Flush(ctx context.Context) error
}

// WriteNotes writes the activity around payments, many notes at once.
func WriteNotes(n Notes) Loop {
	return Loop{Name: "notes", Every: notesEvery, Do: func(ctx context.Context) (bool, error) { return false, n.Flush(ctx) }}
}

// WriteAccess writes sign-outs and refusals into the audit log.
func WriteAccess(l Notes) Loop {
	return Loop{Name: "access", Every: notesEvery, Do: func(ctx context.Context) (bool, error) { return false, l.Flush(ctx) }}
}
