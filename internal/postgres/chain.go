package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

var _ support.ChainStore = (*SupportStore)(nil)

// AuditChain implements support.ChainStore.
func (s *SupportStore) AuditChain(ctx context.Context, after int64, limit int) ([]support.Link, error) {
	var links []support.Link
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.AuditChain(ctx, c, &dbsqlc.AuditChainParams{After: after, Most: int32(limit)}) //nolint:gosec // a batch size
		if err != nil {
			return fmt.Errorf("read the audit log behind entry %d: %w", after, err)
		}
		links = make([]support.Link, 0, len(rows))
		for _, row := range rows {
			links = append(links, linkFromRow(row))
		}
		return nil
	})
	return links, err
}

func linkFromRow(row *dbsqlc.AuditChainRow) support.Link {
	l := support.Link{
		AuditEntry: support.AuditEntry{
			ID: row.EntryID, ActionID: row.DeedID, Actor: row.Actor, Action: support.Action(row.Action), TargetType: row.TargetType, Target: row.Target,
			OrderID: payment.OrderID(orEmpty(row.OrderID)), AttemptID: (*payment.AttemptID)(row.AttemptID), Reason: row.Reason,
			Address: row.Address, RequestID: row.RequestID, Outcome: support.Outcome(row.Outcome), At: row.At,
		},
		Position: row.Position, Previous: row.Previous, Hash: row.Hash, Order: row.OrderID, DetailText: row.Detail,
	}
	for _, r := range row.Roles {
		l.Roles = append(l.Roles, payment.Role(r))
	}
	return l
}

// AuditMayBeChanged names the role of the sessions, and reports whether it may change or remove entries of the audit log: a superuser,
// the owner of the table, and a role that was granted that.
func (s *SupportStore) AuditMayBeChanged(ctx context.Context) (role string, may bool, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.AuditMayBeChanged(ctx, c)
		if err != nil {
			return fmt.Errorf("read the rights of the role: %w", err)
		}
		role, may = row.Name, row.May
		return nil
	})
	return role, may, err
}
