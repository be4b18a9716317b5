package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// RequestStore keeps the refund requests of package refundrequest.
//
// A request's row is the last that a transaction locks, behind the attempt and the refund.

var _ refundrequest.Store = (*RequestStore)(nil)

// RequestStore keeps refund requests. It is safe for concurrent use.
type RequestStore struct {
	pool  *pool.Pool
	q     *dbsqlc.Queries
	audit *SupportStore
}

// NewRequestStore returns a store on the connections of p.
func NewRequestStore(p *pool.Pool) *RequestStore {
	return &RequestStore{pool: p, q: dbsqlc.New(), audit: NewSupportStore(p, nil)}
}

// Refundable implements refundrequest.Store.
func (s *RequestStore) Refundable(ctx context.Context, id payment.AttemptID) (a payment.Attempt, left int64, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.AttemptRead(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read attempt %s: %w", id, pool.Missing(err, payment.ErrAttemptNotFound))
		}
		a = shownAttempt(&row.PaymentAttempts, row.ReadAt, row.HasDisputes)
		rows, err := s.q.RefundsOfAttempt(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read the refunds of attempt %s: %w", id, err)
		}
		refunds := make([]payment.Refund, len(rows))
		for i, row := range rows {
			refunds[i] = refundFromRow(&row.Refunds, row.ReadAt)
		}
		left = payment.RefundLeft(a, refunds)
		return nil
	})
	return a, left, err
}

// OpenAmount implements refundrequest.Store.
func (s *RequestStore) OpenAmount(ctx context.Context, id payment.AttemptID) (open int64, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if open, err = s.q.RefundRequestsOpen(ctx, c, uuid.UUID(id)); err != nil {
			return fmt.Errorf("read the refund requests of attempt %s: %w", id, err)
		}
		return nil
	})
	return open, err
}

// Same implements refundrequest.Store.
func (s *RequestStore) Same(ctx context.Context, r refundrequest.Request) (same refundrequest.Request, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		same, err = s.same(ctx, c, r)
		return err
	})
	return same, err
}

func (s *RequestStore) same(ctx context.Context, db dbsqlc.DBTX, r refundrequest.Request) (refundrequest.Request, error) {
	id, err := s.q.RefundRequestSame(ctx, db, &dbsqlc.RefundRequestSameParams{AttemptID: uuid.UUID(r.AttemptID), RequestedBy: r.By, Amount: r.Money.Minor})
	if err != nil {
		return refundrequest.Request{}, fmt.Errorf("find a refund request like %s: %w", r.ID, pool.Missing(err, refundrequest.ErrNotFound))
	}
	return s.read(ctx, db, id)
}

// Insert implements refundrequest.Store.
func (s *RequestStore) Insert(ctx context.Context, r refundrequest.Request, entry support.AuditEntry) (got refundrequest.Request, made bool, err error) {
	err = s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		n, err := s.q.RefundRequestInsert(ctx, tx, &dbsqlc.RefundRequestInsertParams{
			RefundRequestID: r.ID, OrderID: string(r.OrderID), AttemptID: uuid.UUID(r.AttemptID), Amount: r.Money.Minor, Currency: string(r.Money.Currency),
			Reason: r.Reason, RequestedBy: r.By,
		})
		if err != nil {
			return fmt.Errorf("insert refund request %s: %w", r.ID, err)
		}
		if made = n == 1; !made {
			got, err = s.same(ctx, tx, r)
			if errors.Is(err, refundrequest.ErrNotFound) {
				err = fmt.Errorf("refund request %s: one like it was decided meanwhile: %w", r.ID, payment.ErrBusy)
			}
			return err
		}
		if got, err = s.read(ctx, tx, r.ID); err != nil {
			return err
		}
		return s.audit.InsertEntry(ctx, tx.Deferred(), entry)
	})
	return got, made, err
}

// Request implements refundrequest.Store.
func (s *RequestStore) Request(ctx context.Context, id uuid.UUID) (r refundrequest.Request, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		r, err = s.read(ctx, c, id)
		return err
	})
	return r, err
}

func (s *RequestStore) read(ctx context.Context, db dbsqlc.DBTX, id uuid.UUID) (refundrequest.Request, error) {
	row, err := s.q.RefundRequestRead(ctx, db, id)
	if err != nil {
		return refundrequest.Request{}, fmt.Errorf("read refund request %s: %w", id, pool.Missing(err, refundrequest.ErrNotFound))
	}
	return fromRow(&row.RefundRequests, row.UserID), nil
}

// Requests implements refundrequest.Store.
func (s *RequestStore) Requests(ctx context.Context, q refundrequest.Query) (list []refundrequest.Request, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.RefundRequestsList(ctx, c, &dbsqlc.RefundRequestsListParams{
			BeforeID: q.Before, Status: string(q.State), Most: int32(q.Limit), //nolint:gosec // a page
		})
		if err != nil {
			return fmt.Errorf("list refund requests: %w", err)
		}
		for _, row := range rows {
			list = append(list, fromRow(&row.RefundRequests, row.UserID))
		}
		return nil
	})
	return list, err
}

// Decline implements refundrequest.Store.
func (s *RequestStore) Decline(ctx context.Context, id uuid.UUID, d refundrequest.Decision, entry support.AuditEntry) error {
	return s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		if err := s.decide(ctx, tx, id, refundrequest.Declined, d); err != nil {
			return err
		}
		return s.audit.InsertEntry(ctx, tx.Deferred(), entry)
	})
}

// ApproveIn implements refundrequest.Store.
func (s *RequestStore) ApproveIn(ctx context.Context, tx commands.Tx, id uuid.UUID, d refundrequest.Decision, entry support.AuditEntry) error {
	t, ours := tx.(pipeline.DB)
	if !ours {
		return errForeignTx
	}
	if err := s.decide(ctx, t, id, refundrequest.Approved, d); err != nil {
		return err
	}
	return s.audit.AuditInsertIn(ctx, tx, entry)
}

func (s *RequestStore) decide(ctx context.Context, db dbsqlc.DBTX, id uuid.UUID, state refundrequest.State, d refundrequest.Decision) error {
	n, err := s.q.RefundRequestDecide(ctx, db, &dbsqlc.RefundRequestDecideParams{
		RefundRequestID: id, Status: string(state), DecidedBy: d.DecidedBy, DecisionReason: d.DecisionReason, RefundID: (*uuid.UUID)(d.RefundID),
	})
	if err == nil && n == 0 {
		err = refundrequest.ErrDecided
	}
	if err != nil {
		return fmt.Errorf("decide refund request %s: %w", id, err)
	}
	return nil
}

// Refused implements refundrequest.Store.
func (s *RequestStore) Refused(ctx context.Context, entry support.AuditEntry) error {
	return s.audit.AuditInsert(ctx, entry)
}

func fromRow(row *dbsqlc.RefundRequests, user string) refundrequest.Request {
	return refundrequest.Request{
		ID: row.RefundRequestID, AttemptID: payment.AttemptID(row.AttemptID), OrderID: payment.OrderID(row.OrderID), UserID: payment.UserID(user),
		Money: payment.Money{Minor: row.Amount, Currency: payment.Currency(row.Currency)}, Reason: row.Reason, By: row.RequestedBy,
		CreatedAt: row.CreatedAt, State: refundrequest.State(row.Status),
		Decision: refundrequest.Decision{
			DecidedBy: row.DecidedBy, DecisionReason: row.DecisionReason, DecidedAt: row.DecidedAt, RefundID: (*payment.RefundID)(row.RefundID),
		},
	}
}
