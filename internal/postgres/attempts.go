package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// Attempt implements payment.Store.
func (s *Store) Attempt(ctx context.Context, id payment.AttemptID) (payment.Attempt, error) {
	var a payment.Attempt
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.AttemptRead(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read attempt %s: %w", id, missing(err, payment.ErrAttemptNotFound))
		}
		a = attemptFromRow(&row.PaymentAttempts, row.ReadAt, row.Siblings)
		return nil
	})
	return a, err
}

// AttemptsByID implements payment.Store.
func (s *Store) AttemptsByID(ctx context.Context, ids []payment.AttemptID) (map[payment.AttemptID]payment.Attempt, error) {
	there := make(map[payment.AttemptID]payment.Attempt, len(ids))
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.AttemptsRead(ctx, c, uuids(ids))
		if err != nil {
			return fmt.Errorf("read %d attempts: %w", len(ids), err)
		}
		for _, r := range rows {
			a := attemptFromRow(&r.PaymentAttempts, r.ReadAt, r.Siblings)
			there[a.ID] = a
		}
		return nil
	})
	return there, err
}

// AttemptsByRequest implements payment.Store.
func (s *Store) AttemptsByRequest(ctx context.Context, requests []payment.RequestName) (map[payment.RequestName]payment.Attempt, error) {
	p := &dbsqlc.AttemptsByRequestParams{}
	for _, r := range requests {
		p.OrderIds = append(p.OrderIds, string(r.Order))
		p.UserIds = append(p.UserIds, string(r.User))
		p.ClientRequestIds = append(p.ClientRequestIds, string(r.Request))
	}
	there := make(map[payment.RequestName]payment.Attempt, len(requests))
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.AttemptsByRequest(ctx, c, p)
		if err != nil {
			return fmt.Errorf("read the attempts of %d requests: %w", len(requests), err)
		}
		for _, r := range rows {
			a := attemptFromRow(&r.PaymentAttempts, r.ReadAt, r.Siblings)
			there[a.Name()] = a
		}
		return nil
	})
	return there, err
}

const (
	// dueEntries bounds how much of the schedule is looked at in one statement,
	// dueLooks how often that is done on one call: what is left then waits for the
	// next one.
	dueEntries = 1024
	dueLooks   = 64
)

// DueAccounts implements payment.Store.
func (s *Store) DueAccounts(ctx context.Context) (accounts []string, err error) {
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		accounts, err = s.q.AccountsDue(ctx, c)
		return err
	})
	return accounts, err
}

// DueAttempts implements payment.Store. Entries of the schedule that are early, or
// of attempts that became final, are cleared away on the way.
func (s *Store) DueAttempts(ctx context.Context, account string, limit int) ([]payment.AttemptID, error) {
	var due []payment.AttemptID
	p := &dbsqlc.AttemptsDueParams{Account: account, Most: int32(limit), Entries: dueEntries} //nolint:gosec // a batch size
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		for range dueLooks {
			row, err := s.q.AttemptsDue(ctx, c, p)
			if err != nil {
				return fmt.Errorf("read the schedule: %w", err)
			}
			due = due[:0]
			for _, id := range row.Due {
				due = append(due, payment.AttemptID(id))
			}
			if len(due) == limit || row.Seen < dueEntries || row.Done == 0 {
				break
			}
		}
		return nil
	})
	return due, err
}

// AttemptsInsert implements payment.Tx.
func (t *txn) AttemptsInsert(ctx context.Context, attempts []payment.Attempt) error {
	p := params[dbsqlc.AttemptsInsertParams](len(attempts))
	born := make([]payment.Change, 0, len(attempts))
	for i := range attempts {
		a := &attempts[i]
		p.OrderIds = append(p.OrderIds, string(a.OrderID))
		p.AttemptIds = append(p.AttemptIds, uuid.UUID(a.ID))
		p.UserIds = append(p.UserIds, string(a.UserID))
		p.ClientRequestIds = append(p.ClientRequestIds, string(a.RequestID))
		p.RequestHashes = append(p.RequestHashes, a.RequestHash[:])
		p.Accounts = append(p.Accounts, a.Account)
		p.Amounts = append(p.Amounts, a.Money.Minor)
		p.Currencies = append(p.Currencies, string(a.Money.Currency))
		p.CapturesManual = append(p.CapturesManual, a.Capture == payment.CaptureManual)
		p.ReturnUrls = append(p.ReturnUrls, a.ReturnURL)
		p.LeaseUntils = append(p.LeaseUntils, orZero(a.LeaseUntil))
		p.NextCheckAts = append(p.NextCheckAts, orZero(a.NextCheckAt))
		p.CreatedAts = append(p.CreatedAts, a.CreatedAt)
		born = append(born, payment.Change{Attempt: *a, Transitions: []payment.Transition{a.Born()}, Names: []string{a.ID.String()}})
	}
	if err := t.q.AttemptsInsert(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("insert %d attempts: %w", len(attempts), err)
	}
	if err := t.keepTokens(ctx, attempts); err != nil {
		return err
	}
	if err := t.name(ctx, born); err != nil {
		return err
	}
	return t.appendLog(ctx, born)
}

// AttemptLock implements payment.Tx.
func (t *txn) AttemptLock(ctx context.Context, id payment.AttemptID) (payment.Attempt, error) {
	row, err := t.q.AttemptLock(ctx, t, uuid.UUID(id))
	if err != nil {
		return payment.Attempt{}, fmt.Errorf("lock attempt %s: %w", id, missing(err, payment.ErrAttemptNotFound))
	}
	return attemptFromRow(&row.PaymentAttempts, row.ReadAt, row.Siblings), nil
}

// AttemptLockBeside implements payment.Tx.
func (t *txn) AttemptLockBeside(ctx context.Context, id payment.AttemptID) (payment.Attempt, payment.Order, error) {
	var a payment.Attempt
	var order *dbsqlc.Orders
	var attempts []*dbsqlc.AttemptsBesideRow
	err := t.Pipeline(ctx, func(db pipeline.DB) error {
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
	})
	if err != nil {
		return a, payment.Order{}, fmt.Errorf("lock attempt %s: %w", id, missing(err, payment.ErrAttemptNotFound))
	}
	o, err := orderFromRow(order)
	for _, r := range attempts {
		o.Attempts = append(o.Attempts, attemptFromRow(&r.PaymentAttempts, r.ReadAt, r.Siblings))
	}
	return a, o, err
}

// AttemptsTake implements payment.Tx.
func (t *txn) AttemptsTake(ctx context.Context, ids []payment.AttemptID, names []payment.Reference) (payment.Taken, error) {
	var taken payment.Taken
	var locked []*dbsqlc.AttemptsLockFreeRow
	var hits []*dbsqlc.ReferencesFindRow
	parked := t.parked(ctx, names)
	err := t.Pipeline(ctx, append(parked.reads, t.find(ctx, names, &hits), func(db pipeline.DB) (err error) {
		locked, err = t.q.AttemptsLockFree(ctx, db, uuids(ids))
		return err
	})...)
	if err != nil {
		return taken, fmt.Errorf("take %d attempts: %w", len(ids), err)
	}
	for _, r := range locked {
		taken.Attempts = append(taken.Attempts, attemptFromRow(&r.PaymentAttempts, r.ReadAt, r.Siblings))
	}
	taken.Owners = owners(hits)
	taken.Parked = parkedFromRows(parked.rows)
	return taken, nil
}

// ReferencesFind implements payment.Tx.
func (t *txn) ReferencesFind(ctx context.Context, names []payment.Reference) (map[payment.Reference]payment.AttemptID, error) {
	var hits []*dbsqlc.ReferencesFindRow
	if err := t.find(ctx, names, &hits)(t); err != nil {
		return nil, fmt.Errorf("find names: %w", err)
	}
	return owners(hits), nil
}

// ReferencesKnown implements payment.Store.
func (s *Store) ReferencesKnown(ctx context.Context, names []payment.Reference) (map[payment.Reference]payment.AttemptID, error) {
	p := &dbsqlc.ReferencesFindParams{}
	for _, n := range names {
		p.Accounts, p.Refs = append(p.Accounts, n.Account), append(p.Refs, n.Name)
	}
	var hits []*dbsqlc.ReferencesFindRow
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		hits, err = s.q.ReferencesFind(ctx, c, p)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find %d names: %w", len(names), err)
	}
	return owners(hits), nil
}

func attemptsOf(ctx context.Context, q *dbsqlc.Queries, db dbsqlc.DBTX, orders ...string) ([]payment.Attempt, error) {
	rows, err := q.AttemptsOfOrders(ctx, db, orders)
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	attempts := make([]payment.Attempt, 0, len(rows))
	for _, r := range rows {
		attempts = append(attempts, attemptFromRow(&r.PaymentAttempts, r.ReadAt, r.Siblings))
	}
	return attempts, nil
}

func attemptFromRow(row *dbsqlc.PaymentAttempts, readAt time.Time, siblings bool) payment.Attempt {
	a := payment.Attempt{
		ID: payment.AttemptID(row.AttemptID), OrderID: payment.OrderID(row.OrderID), UserID: payment.UserID(row.UserID),
		RequestID: payment.RequestID(row.ClientRequestID), RequestHash: hashFromRow(row.RequestHash),
		Account: row.Account, ProviderPaymentID: row.ProviderPaymentID, State: stateFromRow(row.Status, row.Stage),
		Money:      payment.Money{Minor: row.Amount, Currency: payment.Currency(row.Currency)},
		Authorized: row.AmountAuthorized, Captured: row.AmountCaptured, Refunded: row.AmountRefunded,
		Reversed: row.AmountReversed, Disputed: row.AmountDisputed, LastMovement: int(row.Movements),
		Capture: payment.CaptureAutomatic, NextActionURL: row.NextActionUrl, ReturnURL: row.ReturnUrl,
		Intent: payment.Intent{Kind: payment.IntentKind(row.Intent), Amount: row.IntentAmount, Number: int(row.IntentNumber), At: orZero(row.IntentAt)},
		Saved:  savedFromRow(row.SavedPaymentMethod), Version: int(row.Version), Fence: row.Fence, LeaseUntil: row.LeaseUntil,
		Checks: int(row.Checks), NextCheckAt: row.NextCheckAt, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
		FinalizedAt: row.FinalizedAt, ReadAt: readAt, Siblings: siblings,
		Foreign:         payment.Money{Minor: row.ForeignAmount, Currency: payment.Currency(row.ForeignCurrency)},
		ForeignReturned: row.ForeignReturned, HoldToldAt: row.HoldToldAt,
	}
	if row.CaptureManual {
		a.Capture = payment.CaptureManual
	}
	if row.FailureCode != "" {
		a.Failure = &payment.Failure{Code: row.FailureCode, Message: row.FailureMessage, ProviderCode: row.FailureProviderCode}
	}
	return a
}

func stateFromRow(status dbsqlc.AttemptStatus, stage dbsqlc.AttemptStage) fsm.State {
	switch status {
	case dbsqlc.AttemptStatusSucceeded:
		return fsm.Succeeded
	case dbsqlc.AttemptStatusFailed:
		return fsm.Failed
	case dbsqlc.AttemptStatusPending:
	}
	return fsm.State(stage)
}
