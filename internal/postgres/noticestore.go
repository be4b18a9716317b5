package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/notice"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// NoticeStore stores the progress of the configured notices.

var _ notice.Store = (*NoticeStore)(nil)

// NoticeStore keeps the notices. It is safe for concurrent use.
type NoticeStore struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
}

// NewNoticeStore returns a store on the connections of p.
func NewNoticeStore(p *pool.Pool) *NoticeStore { return &NoticeStore{pool: p, q: dbsqlc.New()} }

// RegisterNotices implements notice.Store.
func (s *NoticeStore) RegisterNotices(ctx context.Context, names []string) error {
	return s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		if err := s.q.NoticesRegister(ctx, tx, slices.Sorted(slices.Values(names))); err != nil {
			return fmt.Errorf("register notices: %w", err)
		}
		return nil
	})
}

// TakeNotice implements notice.Store.
func (s *NoticeStore) TakeNotice(ctx context.Context, name string, life time.Duration) (lease.Lease, error) {
	l := lease.Lease{Name: name}
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		l.Fence, err = s.q.NoticeTake(ctx, c, &dbsqlc.NoticeTakeParams{Seconds: life.Seconds(), Name: name})
		if err != nil {
			return fmt.Errorf("take the lease of notice %s: %w", name, pool.Missing(err, lease.ErrHeld))
		}
		return nil
	})
	return l, err
}

// RenewNotice implements notice.Store.
func (s *NoticeStore) RenewNotice(ctx context.Context, l lease.Lease, life time.Duration) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		n, err := s.q.NoticeRenew(ctx, c, &dbsqlc.NoticeRenewParams{Seconds: life.Seconds(), Name: l.Name, Fence: l.Fence})
		return pool.Touched(n, err, lease.ErrLost, "renew the lease of notice "+l.Name)
	})
}

// NoticeWork implements notice.Store.
func (s *NoticeStore) NoticeWork(ctx context.Context, l lease.Lease, endpoints []string, limit int) (w notice.Work, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		at, err := s.q.NoticeRead(ctx, c, &dbsqlc.NoticeReadParams{Name: l.Name, Fence: l.Fence})
		if err != nil {
			return fmt.Errorf("read notice %s: %w", l.Name, pool.Missing(err, lease.ErrLost))
		}
		w = notice.Work{Position: outbox.Position(at.Position), Since: time.Duration(at.Since * float64(time.Second))}
		p, err := readCursor(ctx, s.q, c, outbox.Query{
			After: w.Position, Until: outbox.Position(at.Head), Types: []string{outbox.DiscrepancyOpened}, Limit: limit,
		})
		if err != nil {
			return fmt.Errorf("notice %s: %w", l.Name, err)
		}
		w.Events, w.Until, w.Lost = p.Events, p.Until, p.Lost
		rows, err := s.q.NoticeRequests(ctx, c, &dbsqlc.NoticeRequestsParams{Name: l.Name, Most: int32(limit)}) //nolint:gosec // a batch
		if err != nil {
			return fmt.Errorf("read the refund requests of notice %s: %w", l.Name, err)
		}
		for _, row := range rows {
			w.Requests = append(w.Requests, notice.Request{
				ID: row.RefundRequestID, Order: payment.OrderID(row.OrderID), Attempt: payment.AttemptID(row.AttemptID),
				Money: payment.Money{Minor: row.Amount, Currency: payment.Currency(row.Currency)}, At: row.CreatedAt,
			})
		}
		failing, err := s.q.NoticeEndpoints(ctx, c, &dbsqlc.NoticeEndpointsParams{Name: l.Name, Endpoints: append([]string{}, endpoints...)})
		if err != nil {
			return fmt.Errorf("read the failing endpoints of notice %s: %w", l.Name, err)
		}
		for _, row := range failing {
			w.Endpoints = append(w.Endpoints, notice.FailingEndpoint{Name: row.Name, Dead: row.Dead, Since: row.Since})
		}
		return nil
	})
	return w, err
}

// RecordNotice implements notice.Store.
func (s *NoticeStore) RecordNotice(ctx context.Context, l lease.Lease, r notice.Result) error {
	return s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		n, err := s.q.NoticeAdvance(ctx, tx, &dbsqlc.NoticeAdvanceParams{
			Position: int64(r.Position), Sent: r.Sent, LastFailure: r.Failure, Name: l.Name, Fence: l.Fence,
		})
		if err := pool.Touched(n, err, lease.ErrLost, "move notice "+l.Name); err != nil {
			return err
		}
		if len(r.Requests) > 0 {
			err = s.q.NoticedInsert(ctx, tx, &dbsqlc.NoticedInsertParams{Notice: l.Name, Ids: append([]uuid.UUID{}, r.Requests...)})
		}
		if err == nil && len(r.Endpoints) > 0 {
			err = s.q.NoticedEndpointsInsert(ctx, tx, &dbsqlc.NoticedEndpointsInsertParams{Notice: l.Name, Endpoints: append([]string{}, r.Endpoints...)})
		}
		if err != nil {
			return fmt.Errorf("record what notice %s has sent: %w", l.Name, err)
		}
		return nil
	})
}
