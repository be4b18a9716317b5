package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// LastWebhooksSave implements intake.Store.
func (s *Store) LastWebhooksSave(ctx context.Context, last map[string]time.Time) error {
	p := &dbsqlc.LastWebhooksSaveParams{}
	for account, at := range last {
		p.Accounts, p.LastWebhookAts = append(p.Accounts, account), append(p.LastWebhookAts, at)
	}
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if err := s.q.LastWebhooksSave(ctx, c, p); err != nil {
			return fmt.Errorf("write when accounts last had a webhook: %w", err)
		}
		return nil
	})
}

// StaleAccounts implements intake.Store.
func (s *Store) StaleAccounts(ctx context.Context, accounts []string, after time.Duration) ([]intake.StaleAccount, error) {
	var stale []intake.StaleAccount
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.AccountsStale(ctx, c, &dbsqlc.AccountsStaleParams{Accounts: accounts, StaleAfter: after.Seconds()})
		if err != nil {
			return fmt.Errorf("look for stale accounts: %w", err)
		}
		for _, row := range rows {
			stale = append(stale, intake.StaleAccount{Account: row.Account, Pending: int(row.Pending), Since: row.Since, LastWebhookAt: row.LastWebhookAt})
		}
		return nil
	})
	return stale, err
}
