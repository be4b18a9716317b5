package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// Merchants are the merchants behind the accounts, in a transaction that no other one of them overlaps.
type Merchants struct {
	q  *dbsqlc.Queries
	tx pgx.Tx
}

// OnMerchants makes the store unavailable until compare has once returned no error. It must be called before the store is used.
func (s *Store) OnMerchants(compare func(ctx context.Context, m *Merchants) error) {
	s.pool.Suits(func(ctx context.Context, c *pgxpool.Conn) error { return s.merchants(ctx, c, compare) })
}

// InMerchants runs compare in a transaction, which is undone if compare returns an error.
func (s *Store) InMerchants(ctx context.Context, compare func(ctx context.Context, m *Merchants) error) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error { return s.merchants(ctx, c, compare) })
}

// Suits returns the error for which the store is unavailable; nil if there is none.
func (s *Store) Suits(ctx context.Context) error {
	return s.pool.Read(ctx, func(context.Context, *pgxpool.Conn) error { return nil })
}

func (s *Store) merchants(ctx context.Context, c *pgxpool.Conn, compare func(ctx context.Context, m *Merchants) error) error {
	tx, err := c.Begin(ctx)
	if err != nil {
		return fmt.Errorf("compare the merchants: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if err := s.q.MerchantsLock(ctx, tx); err != nil {
		return fmt.Errorf("compare the merchants: %w", err)
	}
	if err := compare(ctx, &Merchants{s.q, tx}); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("compare the merchants: %w", err)
	}
	return nil
}

// Read implements accounts.Merchants.
func (m *Merchants) Read(ctx context.Context) ([]payment.Merchant, error) {
	rows, err := m.q.MerchantsRead(ctx, m.tx)
	if err != nil {
		return nil, fmt.Errorf("read the merchants: %w", err)
	}
	list := make([]payment.Merchant, len(rows))
	for i, r := range rows {
		list[i] = payment.Merchant{Account: r.Account, Number: int(r.Number), Kind: r.Kind, Live: r.Live, Credentials: r.Credentials, Since: r.Since}
		if err := json.Unmarshal(r.Ids, &list[i].IDs); err != nil {
			return nil, fmt.Errorf("read the merchants of account %s: %w", r.Account, err)
		}
	}
	return list, nil
}

// OpenOfOthers implements accounts.Merchants.
func (m *Merchants) OpenOfOthers(ctx context.Context, account string, number int) (open int64, first string, err error) {
	p := &dbsqlc.AttemptsOfOtherMerchantParams{Account: account, Number: int16(number)} //nolint:gosec // a small number
	r, err := m.q.AttemptsOfOtherMerchant(ctx, m.tx, p)
	if err != nil {
		return 0, "", fmt.Errorf("look for open payments of another merchant: %w", err)
	}
	return r.Attempts, r.First, nil
}

// Save implements accounts.Merchants.
func (m *Merchants) Save(ctx context.Context, one payment.Merchant) error {
	ids, err := json.Marshal(one.IDs)
	if err != nil {
		return fmt.Errorf("write a merchant: %w", err)
	}
	err = m.q.MerchantSave(ctx, m.tx, &dbsqlc.MerchantSaveParams{
		Account: one.Account, Number: int16(one.Number), Kind: one.Kind, Live: one.Live, Ids: ids, Credentials: one.Credentials, Since: one.Since, //nolint:gosec // a small number
	})
	if err != nil {
		return fmt.Errorf("write the merchant of account %s: %w", one.Account, err)
	}
	return nil
}
