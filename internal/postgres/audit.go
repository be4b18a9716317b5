package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/redact"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// AuditEntries implements support.Store.
func (s *SupportStore) AuditEntries(ctx context.Context, q support.AuditQuery) ([]support.AuditEntry, error) {
	var entries []support.AuditEntry
	err := s.pool.Aside(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.AuditList(ctx, c, &dbsqlc.AuditListParams{
			Actor: q.Actor, Action: string(q.Action), Target: q.Target, BeforeID: q.BeforeID, Most: int32(q.Limit), //nolint:gosec // a page
		})
		if err != nil {
			return fmt.Errorf("list the audit log: %w", err)
		}
		for _, row := range rows {
			d, err := entryFromRow(row)
			if err != nil {
				return err
			}
			entries = append(entries, d)
		}
		return nil
	})
	return entries, err
}

// AuditInsert implements support.Store.
func (s *SupportStore) AuditInsert(ctx context.Context, d support.AuditEntry) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error { return s.InsertEntry(ctx, c, d) })
}

// AuditInsertIn implements support.Store, by a write that travels with the next statement of tx.
func (s *SupportStore) AuditInsertIn(ctx context.Context, tx changeset.Tx, d support.AuditEntry) error {
	t, ours := tx.(interface{ Deferred() pipeline.DB })
	if !ours {
		return errForeignTx
	}
	return s.InsertEntry(ctx, t.Deferred(), d)
}

// InsertEntry writes an entry of the audit log on a connection or in a transaction, for the other stores.
func (s *SupportStore) InsertEntry(ctx context.Context, db dbsqlc.DBTX, d support.AuditEntry) error {
	detail := []byte("{}")
	if d.Detail != nil {
		var err error
		if detail, err = json.Marshal(d.Detail); err != nil {
			return fmt.Errorf("encode an entry of the audit log: %w", err)
		}
	}
	roles := make([]string, len(d.Roles))
	for i, r := range d.Roles {
		roles[i] = string(r)
	}
	err := s.q.AuditInsert(ctx, db, &dbsqlc.AuditInsertParams{
		EntryID: d.ID, DeedID: d.ActionID, Actor: d.Actor, Roles: roles, Action: string(d.Action), TargetType: d.TargetType, Target: redact.APIKeys(d.Target),
		OrderID: orNull(string(d.OrderID)), AttemptID: (*uuid.UUID)(d.AttemptID), Reason: redact.APIKeys(d.Reason), Address: d.Address,
		RequestID: redact.APIKeys(d.RequestID), Outcome: string(d.Outcome), Detail: []byte(redact.APIKeys(string(detail))),
	})
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	return nil
}

func entryFromRow(row *dbsqlc.StaffAudit) (support.AuditEntry, error) {
	d := support.AuditEntry{
		ID: row.EntryID, ActionID: row.DeedID, Actor: row.Actor, Action: support.Action(row.Action), TargetType: row.TargetType, Target: row.Target,
		OrderID: payment.OrderID(orEmpty(row.OrderID)), AttemptID: (*payment.AttemptID)(row.AttemptID), Reason: row.Reason, Address: row.Address,
		RequestID: row.RequestID, Outcome: support.Outcome(row.Outcome), At: row.At,
	}
	for _, r := range row.Roles {
		d.Roles = append(d.Roles, payment.Role(r))
	}
	if err := json.Unmarshal(row.Detail, &d.Detail); err != nil {
		return d, fmt.Errorf("decode an entry of the audit log: %w", err)
	}
	return d, nil
}
