package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// Attempt implements commands.Store.
func (s *Store) Attempt(ctx context.Context, id payment.AttemptID) (payment.Attempt, error) {
	one := make([]payment.Attempt, 1)
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.AttemptRead(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read attempt %s: %w", id, pool.Missing(err, payment.ErrAttemptNotFound))
		}
		one[0] = shownAttempt(&row.PaymentAttempts, row.ReadAt, row.HasDisputes)
		return addShown(ctx, s.q, c, one)
	})
	return one[0], err
}

// AttemptsByID implements commands.Store.
func (s *Store) AttemptsByID(ctx context.Context, ids []payment.AttemptID) (map[payment.AttemptID]payment.Attempt, error) {
	there := make(map[payment.AttemptID]payment.Attempt, len(ids))
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.AttemptsRead(ctx, c, asUUIDs(ids))
		if err != nil {
			return fmt.Errorf("read %d attempts: %w", len(ids), err)
		}
		attempts := make([]payment.Attempt, 0, len(rows))
		for _, r := range rows {
			attempts = append(attempts, shownAttempt(&r.PaymentAttempts, r.ReadAt, r.HasDisputes))
		}
		if err := addShown(ctx, s.q, c, attempts); err != nil {
			return err
		}
		for _, a := range attempts {
			there[a.ID] = a
		}
		return nil
	})
	return there, err
}

// AttemptsByRequest implements commands.Store.
func (s *Store) AttemptsByRequest(ctx context.Context, requests []payment.RequestName) (map[payment.RequestName]payment.Attempt, error) {
	p := &dbsqlc.AttemptsByRequestParams{}
	for _, r := range requests {
		p.OrderIds = append(p.OrderIds, string(r.Order))
		p.UserIds = append(p.UserIds, string(r.User))
		p.ClientRequestIds = append(p.ClientRequestIds, string(r.Request))
	}
	there := make(map[payment.RequestName]payment.Attempt, len(requests))
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.AttemptsByRequest(ctx, c, p)
		if err != nil {
			return fmt.Errorf("read the attempts of %d requests: %w", len(requests), err)
		}
		attempts := make([]payment.Attempt, 0, len(rows))
		for _, r := range rows {
			a := shownAttempt(&r.PaymentAttempts, r.ReadAt, r.HasDisputes)
			if r.ChargeState != "" {
				a.Operations = []payment.Operation{{
					OrderID: a.OrderID, AttemptID: a.ID, Kind: payment.OperationCharge,
					State: fsm.OperationState(r.ChargeState), LeaseUntil: r.ChargeLeaseUntil,
				}}
			}
			attempts = append(attempts, a)
		}
		if err := addShown(ctx, s.q, c, attempts); err != nil {
			return err
		}
		for _, a := range attempts {
			there[a.Name()] = a
		}
		return nil
	})
	if err == nil && len(there) > 0 {
		err = s.promised()
	}
	return there, err
}

// AttemptsInsert implements commands.Tx.
func (t *txn) AttemptsInsert(ctx context.Context, attempts []payment.Attempt) error {
	born := make([]changeset.AttemptWrite, len(attempts))
	for i := range attempts {
		a := &attempts[i]
		born[i] = changeset.AttemptWrite{
			Attempt: *a, Transitions: []payment.Transition{a.InitialTransition()}, Names: []string{a.ID.String()}, Begun: a.Operations,
		}
	}
	if err := t.q.AttemptsInsert(ctx, t.Deferred(), attemptsInsertParams(attempts)); err != nil {
		return fmt.Errorf("insert %d attempts: %w", len(attempts), err)
	}
	if err := t.keepDetails(ctx, receiptsParams(attempts)); err != nil {
		return err
	}
	if err := t.begin(ctx, born); err != nil {
		return err
	}
	if err := t.name(ctx, born); err != nil {
		return err
	}
	return t.appendLog(ctx, born)
}

// AttemptLock implements changeset.Tx.
func (t *txn) AttemptLock(ctx context.Context, id payment.AttemptID) (payment.Attempt, payment.Order, error) {
	var a payment.Attempt
	var order *dbsqlc.Orders
	var attempts []*dbsqlc.AttemptsBesideRow
	beside := t.besideIDs([]uuid.UUID{uuid.UUID(id)})
	err := t.Pipeline(ctx, append([]pipeline.Query{func(db pipeline.DB) error {
		row, err := t.q.AttemptLock(ctx, db, uuid.UUID(id))
		if err == nil {
			a = attemptFromRow(&row.PaymentAttempts, row.ReadAt, row.Siblings)
		}
		return err
	}, func(db pipeline.DB) (err error) {
		order, err = t.q.OrderBeside(ctx, db, uuid.UUID(id))
		return err
	}, func(db pipeline.DB) (err error) {
		attempts, err = t.q.AttemptsBeside(ctx, db, uuid.UUID(id))
		return err
	}}, beside.reads(ctx)...)...)
	if err != nil {
		return a, payment.Order{}, fmt.Errorf("lock attempt %s: %w", id, pool.Missing(err, payment.ErrAttemptNotFound))
	}
	beside.fill(&a)
	o, err := orderFromRow(order)
	for _, r := range attempts {
		o.Attempts = append(o.Attempts, attemptFromRow(&r.PaymentAttempts, r.ReadAt, r.Siblings))
	}
	return a, o, err
}

// AttemptsTake implements changeset.Tx.
func (t *txn) AttemptsTake(ctx context.Context, ids []payment.AttemptID, names []payment.Reference) (changeset.Taken, error) {
	var taken changeset.Taken
	var locked []*dbsqlc.AttemptsLockFreeRow
	var hits []*dbsqlc.ReferencesFindRow
	parked := t.parked(ctx, names)
	reads := append(parked.reads, t.find(ctx, names, &hits))
	beside := t.besideIDs(asUUIDs(ids))
	if len(ids) > 0 {
		reads = append(reads, func(db pipeline.DB) (err error) {
			locked, err = t.q.AttemptsLockFree(ctx, db, asUUIDs(ids))
			return err
		})
		reads = append(reads, beside.reads(ctx)...)
	}
	if err := t.Pipeline(ctx, reads...); err != nil {
		return taken, fmt.Errorf("take %d attempts: %w", len(ids), err)
	}
	for _, r := range locked {
		a := attemptFromRow(&r.PaymentAttempts, r.ReadAt, r.Siblings)
		beside.fill(&a)
		taken.Attempts = append(taken.Attempts, a)
	}
	taken.Owners = ownersFromRows(hits)
	taken.Parked = parkedEventsFromRows(parked.rows)
	return taken, nil
}

// ReferencesFind implements intake.Tx.
func (t *txn) ReferencesFind(ctx context.Context, names []payment.Reference) (map[payment.Reference]payment.AttemptID, error) {
	var hits []*dbsqlc.ReferencesFindRow
	if err := t.find(ctx, names, &hits)(t); err != nil {
		return nil, fmt.Errorf("find names: %w", err)
	}
	return ownersFromRows(hits), nil
}

func accountsAndNames(list []payment.Reference) (accounts, names []string) {
	for _, n := range list {
		accounts, names = append(accounts, n.Account), append(names, n.Name)
	}
	return accounts, names
}

// ReferencesKnown implements intake.Store.
func (s *Store) ReferencesKnown(ctx context.Context, names []payment.Reference) (map[payment.Reference]payment.AttemptID, error) {
	accounts, refs := accountsAndNames(names)
	p := &dbsqlc.ReferencesFindParams{Accounts: accounts, Refs: refs}
	var hits []*dbsqlc.ReferencesFindRow
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		hits, err = s.q.ReferencesFind(ctx, c, p)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find %d names: %w", len(names), err)
	}
	return ownersFromRows(hits), nil
}

func attemptsOf(ctx context.Context, q *dbsqlc.Queries, db dbsqlc.DBTX, orders ...string) ([]payment.Attempt, error) {
	rows, err := q.AttemptsOfOrders(ctx, db, orders)
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	return attemptsFromRows(rows), nil
}
