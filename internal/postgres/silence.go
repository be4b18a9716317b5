package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// NoteHeard implements payment.Store.
func (s *Store) NoteHeard(ctx context.Context, heard map[string]time.Time) error {
	p := &dbsqlc.AccountsHeardParams{}
	for account, at := range heard {
		p.Accounts, p.HeardAts = append(p.Accounts, account), append(p.HeardAts, at)
	}
	return s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if err := s.q.AccountsHeard(ctx, c, p); err != nil {
			return fmt.Errorf("note when accounts were heard: %w", err)
		}
		return nil
	})
}

// Silent implements payment.Store.
func (s *Store) Silent(ctx context.Context, accounts []string, after time.Duration) ([]payment.Silence, error) {
	var silent []payment.Silence
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.AccountsSilent(ctx, c, &dbsqlc.AccountsSilentParams{Accounts: accounts, SilentAfter: after.Seconds()})
		if err != nil {
			return fmt.Errorf("look for silent accounts: %w", err)
		}
		for _, row := range rows {
			silent = append(silent, payment.Silence{Account: row.Account, Pending: int(row.Pending), Since: row.Since, HeardAt: row.HeardAt})
		}
		return nil
	})
	return silent, err
}
