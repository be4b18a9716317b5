package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/engine/activity"
)

// NotesInsert implements activity.NoteStore, in one statement.
func (s *Store) NotesInsert(ctx context.Context, notes []activity.Note) error {
	p := logInsertParams(notes)
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if err := s.q.LogInsert(ctx, c, p); err != nil {
			return fmt.Errorf("write %d notes: %w", len(notes), err)
		}
		return nil
	})
}
