package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/ledger/verify"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// EvidenceReader reads, for package verify, attempts with all that was written about them, many in one snapshot. It locks nothing
// and writes nothing.

var _ verify.Archive = (*EvidenceReader)(nil)

// EvidenceReader reads evidence. It is safe for concurrent use.
type EvidenceReader struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
}

// NewEvidenceReader returns a reader on the connections of p.
func NewEvidenceReader(p *pool.Pool) *EvidenceReader {
	return &EvidenceReader{pool: p, q: dbsqlc.New()}
}

// Evidence is for package verify, in a short transaction that only reads.
func (r *EvidenceReader) Evidence(ctx context.Context, after payment.AttemptID, limit int, alone bool) ([]verify.Evidence, error) {
	var all []verify.Evidence
	err := r.pool.Snapshot(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if alone {
			if ok, err := r.q.EvidenceAlone(ctx, tx); err != nil || !ok {
				return errors.Join(err, payment.ErrBusy)
			}
		}
		var err error
		all, err = r.read(ctx, tx, after, limit)
		return err
	})
	return all, err
}

func (r *EvidenceReader) read(ctx context.Context, tx pgx.Tx, after payment.AttemptID, limit int) ([]verify.Evidence, error) {
	rows, err := r.q.EvidenceAttempts(ctx, tx, &dbsqlc.EvidenceAttemptsParams{After: uuid.UUID(after), Most: int32(limit)}) //nolint:gosec // a batch size
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	all := make([]verify.Evidence, 0, len(rows))
	f := file{at: make(map[uuid.UUID]*verify.Evidence, len(rows))}
	for _, row := range rows {
		a := &row.PaymentAttempts
		all = append(all, verify.Evidence{Attempt: attemptFromRow(a, row.ReadAt, false)})
		f.at[a.AttemptID] = &all[len(all)-1]
		f.orders, f.ids = append(f.orders, a.OrderID), append(f.ids, a.AttemptID)
	}
	for _, add := range []func(context.Context, *dbsqlc.Queries, pgx.Tx) error{f.terms, f.held, f.log, f.movements, f.operations, f.refunds, f.disputes, f.events, f.discrepancies} {
		if err := add(ctx, r.q, tx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// file is evidence that is being gathered.
type file struct {
	ids    []uuid.UUID
	orders []string
	at     map[uuid.UUID]*verify.Evidence
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
			e.CancelRequestedAt, e.Amended = row.CancelRequestedAt, row.Amended
			e.Accepted = row.AcceptedAttemptID != nil && *row.AcceptedAttemptID == uuid.UUID(e.Attempt.ID)
		}
	}
	return nil
}

func (f file) held(ctx context.Context, q *dbsqlc.Queries, tx pgx.Tx) error {
	rows, err := q.EvidenceHeld(ctx, tx, f.orders)
	if err != nil {
		return fmt.Errorf("read held money: %w", err)
	}
	for _, e := range f.at {
		for _, row := range rows {
			beside := row.OrderID == string(e.Attempt.OrderID) && row.AttemptID != uuid.UUID(e.Attempt.ID)
			if beside && (e.HeldBeside == nil || row.Since.Before(*e.HeldBeside)) {
				e.HeldBeside = &row.Since
			}
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

func (f file) operations(ctx context.Context, q *dbsqlc.Queries, tx pgx.Tx) error {
	rows, err := q.OperationsOfAttempts(ctx, tx, f.ids)
	if err != nil {
		return fmt.Errorf("read operations: %w", err)
	}
	for id, operations := range operationsFromRows(rows) {
		f.at[uuid.UUID(id)].Attempt.Operations = operations
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

func (f file) disputes(ctx context.Context, q *dbsqlc.Queries, tx pgx.Tx) error {
	rows, err := q.DisputesOfAttempts(ctx, tx, f.ids)
	if err != nil {
		return fmt.Errorf("read disputes: %w", err)
	}
	for _, row := range rows {
		e := f.at[row.AttemptID]
		e.Disputes = append(e.Disputes, disputeFromRow(row))
	}
	moves, err := q.DisputeMovesOfAttempts(ctx, tx, f.ids)
	if err != nil {
		return fmt.Errorf("read what disputes moved: %w", err)
	}
	for _, m := range disputeMovesFromRows(moves) {
		e := f.at[uuid.UUID(m.AttemptID)]
		e.Moves = append(e.Moves, m)
	}
	return nil
}

func (f file) events(ctx context.Context, q *dbsqlc.Queries, tx pgx.Tx) error {
	rows, err := q.EvidenceEvents(ctx, tx, f.ids)
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	for _, row := range rows {
		s := payment.StoredEvent{Verdict: fsm.Verdict(row.Verdict), ReceivedEvent: payment.ReceivedEvent{Account: row.Account}}
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
		e.Discrepancies = append(e.Discrepancies, verify.Opened{Kind: payment.DiscrepancyKind(row.Kind), About: row.About, Open: row.Open})
	}
	return nil
}
