package payment

import (
	"context"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// noteStore is a storage that takes what it is given until ctx ends.
type noteStore func(ctx context.Context, notes []Note) error

func (s noteStore) NotesInsert(ctx context.Context, notes []Note) error { return s(ctx, notes) }

func TestNotesAreWrittenWhenTheirWriterIsToldToStop(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	var written []Note
	n := NewNotes(noteStore(func(ctx context.Context, notes []Note) error {
		stop()
		if ctx.Err() == nil {
			written = notes
		}
		return ctx.Err()
	}), time.Now)
	note := n.noted(NoteReuse, "pay", time.Now())
	n.add(note)
	require.NoError(t, n.Flush(ctx))
	require.Equal(t, []Note{note}, written)
	require.Zero(t, n.Lost())
}

// The same note comes again after the clock was set back by an hour.
func TestNotesSurviveAClockThatIsSetBack(t *testing.T) {
	t.Parallel()
	var written []Note
	n := NewNotes(noteStore(func(_ context.Context, notes []Note) error {
		written = notes
		return nil
	}), time.Now)
	first := time.Now()
	again := first.Add(-time.Hour)
	(*[2]int64)(unsafe.Pointer(&again))[1] += int64(time.Hour + time.Second) // nothing else moves the monotonic reading alone
	require.True(t, again.After(first) && again.Round(0).Before(first.Round(0)))
	n.add(n.noted(NoteReuse, "pay", first))
	n.add(n.noted(NoteReuse, "pay", again))
	require.NoError(t, n.Flush(t.Context()))
	require.Len(t, written, 1)
	require.Equal(t, 2, written[0].Times)
	require.False(t, written[0].Until.Round(0).Before(written[0].At.Round(0)), "%+v", written[0])
}
