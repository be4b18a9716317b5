package postgres

import (
	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/engine/activity"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// noteFromRow is an entry of the activity log.
func noteFromRow(row *dbsqlc.AttemptLog) activity.Note {
	n := activity.Note{
		ID: row.EntryID, Kind: activity.NoteKind(row.Kind), OrderID: payment.OrderID(row.OrderID), What: row.What, Actor: row.Actor,
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

// logInsertParams returns new entries of the activity log.
func logInsertParams(notes []activity.Note) *dbsqlc.LogInsertParams {
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
		p.Times = append(p.Times, int32(n.Times)) //nolint:gosec // a count of events
		p.Ats = append(p.Ats, n.At)
		p.Untils = append(p.Untils, n.Until)
	}
	return p
}
