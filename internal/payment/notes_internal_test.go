package payment

import (
	"context"
	"testing"
	"time"

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
