package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/paylatch/paylatch/internal/ledger/imports"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// The tables of a trial belong to its session, so that no other session sees or waits for them. The server keeps their
// part beyond temp_buffers on disk. Autovacuum doesn't analyze them: the planner would scan the whole table for each
// batch.
const (
	trialTables = `SET enable_seqscan = off;
CREATE TEMPORARY TABLE trial (number bigint GENERATED ALWAYS AS IDENTITY, order_id text COLLATE "C", attempt_id uuid, past text);
CREATE INDEX ON trial (order_id);
CREATE TEMPORARY TABLE trial_names (account text COLLATE "C", name text COLLATE "C", attempt_id uuid, PRIMARY KEY (name, account))`
	trialKeep      = `INSERT INTO trial (order_id, attempt_id, past) SELECT * FROM unnest($1::text[], $2::uuid[], $3::text[])`
	trialKeepNames = `INSERT INTO trial_names SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[])`
	trialKept      = `SELECT attempt_id, past FROM trial WHERE order_id = ANY ($1::text[]) ORDER BY number`
	trialNames     = `SELECT account, name, attempt_id FROM trial_names
WHERE (account, name) IN (SELECT * FROM unnest($1::text[], $2::text[]))`
)

// insufficientPrivilege is the SQLSTATE of a role without TEMPORARY on the database, as deploy/ makes the serving role.
const insufficientPrivilege = "42501"

// trial is for package imports, on a connection of its own.
type trial struct{ conn *pgx.Conn }

// Trial implements imports.Store.
func (s *Store) Trial(ctx context.Context) (imports.Trial, error) {
	conn, err := s.pool.Connect(ctx, "paylatch dry run")
	if err != nil {
		return nil, err
	}
	t := &trial{conn}
	if _, err := conn.Exec(ctx, trialTables); err != nil {
		t.Close()
		if denied := (*pgconn.PgError)(nil); errors.As(err, &denied) && denied.Code == insufficientPrivilege {
			return imports.NewMemory(), nil
		}
		return nil, fmt.Errorf("make the tables of a dry run: %w", pool.DomainError(err))
	}
	return t, nil
}

// Close implements imports.Trial.
func (t *trial) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = t.conn.Close(ctx)
}

// Keep implements imports.Trial.
func (t *trial) Keep(ctx context.Context, would []imports.Would) error {
	var orders, pasts, accounts, names []string
	var ids, owners []uuid.UUID
	for i := range would {
		w := &would[i]
		text, err := json.Marshal(w.Past) //nolint:musttag // only this session reads it
		if err != nil {
			return fmt.Errorf("keep a payment of order %s: %w", w.Past.Order, err)
		}
		orders, ids, pasts = append(orders, string(w.Past.Order)), append(ids, uuid.UUID(w.Attempt)), append(pasts, string(text))
		for _, n := range w.Past.Names() {
			accounts, names, owners = append(accounts, n.Account), append(names, n.Name), append(owners, uuid.UUID(w.Attempt))
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(trialKeep, orders, ids, pasts)
	batch.Queue(trialKeepNames, accounts, names, owners)
	if err := t.conn.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("keep %d payments of a dry run: %w", len(would), pool.DomainError(err))
	}
	return nil
}

// Kept implements imports.Trial.
func (t *trial) Kept(ctx context.Context, ids []payment.OrderID, names []payment.Reference) (
	[]imports.Would, map[payment.Reference]payment.AttemptID, error,
) {
	rows, err := t.conn.Query(ctx, trialKept, ids)
	if err != nil {
		return nil, nil, fmt.Errorf("read what a dry run would have made: %w", pool.DomainError(err))
	}
	would, err := pgx.CollectRows(rows, wouldOf)
	if err != nil {
		return nil, nil, fmt.Errorf("read what a dry run would have made: %w", pool.DomainError(err))
	}
	accounts, refs := accountsAndNames(names)
	taken, err := t.conn.Query(ctx, trialNames, accounts, refs)
	if err != nil {
		return nil, nil, fmt.Errorf("read names of a dry run: %w", pool.DomainError(err))
	}
	owners := map[payment.Reference]payment.AttemptID{}
	if _, err := pgx.CollectRows(taken, func(row pgx.CollectableRow) (n payment.Reference, err error) {
		var id uuid.UUID
		err = row.Scan(&n.Account, &n.Name, &id)
		owners[n] = payment.AttemptID(id)
		return n, err //nolint:wrapcheck // the caller does
	}); err != nil {
		return nil, nil, fmt.Errorf("read names of a dry run: %w", pool.DomainError(err))
	}
	return would, owners, nil
}

func wouldOf(row pgx.CollectableRow) (w imports.Would, err error) {
	var id uuid.UUID
	var past []byte
	if err := row.Scan(&id, &past); err != nil {
		return w, fmt.Errorf("read a row: %w", err)
	}
	w.Attempt = payment.AttemptID(id)
	if err := json.Unmarshal(past, &w.Past); err != nil { //nolint:musttag // this session wrote it
		return w, fmt.Errorf("read a payment: %w", err)
	}
	return w, nil
}
