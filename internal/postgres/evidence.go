package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// Evidence implements payment.Archive, in a short transaction that reads.
func (s *Store) Evidence(ctx context.Context, after payment.AttemptID, limit int, alone bool) ([]payment.Evidence, error) {
	var all []payment.Evidence
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
		return pgx.BeginTxFunc(ctx, c, snapshot, func(tx pgx.Tx) error {
			if alone {
				if ok, err := s.q.EvidenceAlone(ctx, tx); err != nil || !ok {
					return errors.Join(err, payment.ErrBusy)
				}
			}
			var err error
			all, err = s.evidence(ctx, tx, after, limit)
			return err
		})
	})
	return all, err
}

func (s *Store) evidence(ctx context.Context, tx pgx.Tx, after payment.AttemptID, limit int) ([]payment.Evidence, error) {
	rows, err := s.q.EvidenceAttempts(ctx, tx, &dbsqlc.EvidenceAttemptsParams{After: uuid.UUID(after), Most: int32(limit)}) //nolint:gosec // a batch size
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	all := make([]payment.Evidence, 0, len(rows))
	f := file{at: make(map[uuid.UUID]*payment.Evidence, len(rows))}
	for _, row := range rows {
		a := &row.PaymentAttempts
		all = append(all, payment.Evidence{Attempt: attemptFromRow(a, row.ReadAt, false), Scheduled: row.Scheduled})
		f.at[a.AttemptID] = &all[len(all)-1]
		f.orders, f.ids = append(f.orders, a.OrderID), append(f.ids, a.AttemptID)
	}
	for _, add := range []func(context.Context, *dbsqlc.Queries, pgx.Tx) error{f.terms, f.log, f.movements, f.refunds, f.events, f.discrepancies} {
		if err := add(ctx, s.q, tx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// file is evidence that is being gathered.
type file struct {
	ids    []uuid.UUID
	orders []string
	at     map[uuid.UUID]*payment.Evidence
}

func (f file) terms(ctx context.Context, q *dbsqlc.Queries, tx pgx.Tx) error {
	rows, err := q.EvidenceOrders(ctx, tx, f.orders)
	if err != nil {
		return fmt.Errorf("read orders: %w", err)
	}
	terms := make(map[payment.OrderID]*dbsqlc.EvidenceOrdersRow, len(rows))
	for _, row := range rows {
		terms[payment.OrderID(row.OrderID)] = row
	}
	for _, e := range f.at {
		if row := terms[e.Attempt.OrderID]; row != nil {
			e.Order, e.Live = payment.Money{Minor: row.Amount, Currency: payment.Currency(row.Currency)}, int(row.Live)
		}
	}
	return nil
}

func (f file) log(ctx context.Context, q *dbsqlc.Queries, tx pgx.Tx) error {
	rows, err := q.EvidenceLog(ctx, tx, &dbsqlc.EvidenceLogParams{OrderIds: f.orders, AttemptIds: f.ids})
	if err != nil {
		return fmt.Errorf("read logs: %w", err)
	}
	for _, row := range rows {
		t, err := transitionFromRow(row)
		if err != nil {
			return fmt.Errorf("read the log of %s: %w", row.AttemptID, err)
		}
		e := f.at[row.AttemptID]
		e.Log = append(e.Log, t)
	}
	return nil
}

func (f file) movements(ctx context.Context, q *dbsqlc.Queries, tx pgx.Tx) error {
	rows, err := q.MovementsOfAttempts(ctx, tx, f.ids)
	if err != nil {
		return fmt.Errorf("read movements: %w", err)
	}
	for id, movements := range movementsFromRows(rows) {
		f.at[uuid.UUID(id)].Attempt.Movements = movements
	}
	return nil
}

func (f file) refunds(ctx context.Context, q *dbsqlc.Queries, tx pgx.Tx) error {
	rows, err := q.EvidenceRefunds(ctx, tx, f.ids)
	if err != nil {
		return fmt.Errorf("read refunds: %w", err)
	}
	for _, row := range rows {
		e := f.at[row.Refunds.AttemptID]
		e.Refunds = append(e.Refunds, refundFromRow(&row.Refunds, row.ReadAt))
	}
	return nil
}

func (f file) events(ctx context.Context, q *dbsqlc.Queries, tx pgx.Tx) error {
	rows, err := q.EvidenceEvents(ctx, tx, f.ids)
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	for _, row := range rows {
		s := payment.StoredEvent{Verdict: fsm.Verdict(row.Verdict), Received: payment.Received{Account: row.Account}}
		if err := json.Unmarshal(row.News, &s.Event); err != nil {
			s.Unreadable = fmt.Errorf("%w: %w", payment.ErrEventUnreadable, err)
		}
		s.Event.ID = row.ProviderEventID
		e := f.at[*row.AttemptID]
		e.Events = append(e.Events, s)
	}
	return nil
}

func (f file) discrepancies(ctx context.Context, q *dbsqlc.Queries, tx pgx.Tx) error {
	rows, err := q.EvidenceDiscrepancies(ctx, tx, f.ids)
	if err != nil {
		return fmt.Errorf("read discrepancies: %w", err)
	}
	for _, row := range rows {
		e := f.at[*row.AttemptID]
		e.Discrepancies = append(e.Discrepancies, payment.DiscrepancyKind(row.Kind))
	}
	return nil
}
