package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// NotesInsert implements payment.NoteStore, in one statement.
func (s *Store) NotesInsert(ctx context.Context, notes []payment.Note) error {
	p := &dbsqlc.LogInsertParams{}
	for i := range notes {
		n := &notes[i]
		p.EntryIds = append(p.EntryIds, n.ID)
		p.OrderIds = append(p.OrderIds, string(n.OrderID))
		p.AttemptIds = append(p.AttemptIds, uuid.UUID(n.AttemptID))
		p.Accounts = append(p.Accounts, n.Account)
		p.Refs = append(p.Refs, n.Name)
		p.RefundIds = append(p.RefundIds, uuid.UUID(n.RefundID))
		p.ProviderEventIds = append(p.ProviderEventIds, n.EventID)
		p.Kinds = append(p.Kinds, string(n.Kind))
		p.Whats = append(p.Whats, n.What)
		p.Actors = append(p.Actors, n.Actor)
		p.Keys = append(p.Keys, n.Key)
		p.Outcomes = append(p.Outcomes, n.Outcome)
		p.Times = append(p.Times, int32(n.Times)) //nolint:gosec // a count of presses
		p.Ats = append(p.Ats, n.At)
		p.Untils = append(p.Untils, n.Until)
	}
	return s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if err := s.q.LogInsert(ctx, c, p); err != nil {
			return fmt.Errorf("write %d notes: %w", len(notes), err)
		}
		return nil
	})
}

func noteFromRow(row *dbsqlc.AttemptLog) payment.Note {
	n := payment.Note{
		ID: row.EntryID, Kind: payment.NoteKind(row.Kind), OrderID: payment.OrderID(row.OrderID), What: row.What, Actor: row.Actor,
		Key: row.Key, Outcome: row.Outcome, Times: int(row.Times), At: row.At, Until: row.Until,
	}
	if row.AttemptID != nil {
		n.AttemptID = payment.AttemptID(*row.AttemptID)
	}
	if row.RefundID != nil {
		n.RefundID = payment.RefundID(*row.RefundID)
	}
	return n
}
