package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/events/broker"
	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// StreamStore keeps how far the events for the merchant are published to the brokers of the configuration.

var _ broker.Store = (*StreamStore)(nil)

// StreamStore keeps the streams. It is safe for concurrent use.
type StreamStore struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
}

// NewStreamStore returns a store on the connections of p.
func NewStreamStore(p *pool.Pool) *StreamStore { return &StreamStore{pool: p, q: dbsqlc.New()} }

// RegisterStreams implements broker.Store.
func (s *StreamStore) RegisterStreams(ctx context.Context, names []string) error {
	return s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		if err := s.q.StreamsRegister(ctx, tx, slices.Sorted(slices.Values(names))); err != nil {
			return fmt.Errorf("register streams: %w", err)
		}
		return nil
	})
}

// TakeStream implements broker.Store.
func (s *StreamStore) TakeStream(ctx context.Context, name string, life time.Duration) (lease.Lease, error) {
	l := lease.Lease{Name: name}
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		l.Fence, err = s.q.StreamTake(ctx, c, &dbsqlc.StreamTakeParams{Seconds: life.Seconds(), Name: name})
		if err != nil {
			return fmt.Errorf("take the lease of stream %s: %w", name, pool.Missing(err, lease.ErrHeld))
		}
		return nil
	})
	return l, err
}

// RenewStream implements broker.Store.
func (s *StreamStore) RenewStream(ctx context.Context, l lease.Lease, life time.Duration) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		n, err := s.q.StreamRenew(ctx, c, &dbsqlc.StreamRenewParams{Seconds: life.Seconds(), Name: l.Name, Fence: l.Fence})
		return pool.Touched(n, err, lease.ErrLost, "renew the lease of stream "+l.Name)
	})
}

// StreamWork implements broker.Store.
func (s *StreamStore) StreamWork(ctx context.Context, l lease.Lease, limit int) (broker.Work, error) {
	var work broker.Work
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		at, err := s.q.StreamRead(ctx, c, &dbsqlc.StreamReadParams{Name: l.Name, Fence: l.Fence})
		if err != nil {
			return fmt.Errorf("read stream %s: %w", l.Name, pool.Missing(err, lease.ErrLost))
		}
		work = broker.Work{Position: outbox.Position(at.Position)}
		p, err := readCursor(ctx, s.q, c, outbox.Query{After: work.Position, Until: outbox.Position(at.Head), Limit: limit})
		if err != nil {
			return fmt.Errorf("stream %s: %w", l.Name, err)
		}
		work.Events, work.Until, work.Lost = p.Events, p.Until, p.Lost
		return nil
	})
	return work, err
}

// RecordPublished implements broker.Store.
func (s *StreamStore) RecordPublished(ctx context.Context, l lease.Lease, r broker.Result) error {
	return s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		p := &dbsqlc.StreamAdvanceParams{Position: int64(r.Position), Name: l.Name, Fence: l.Fence, LastFailure: r.Failure}
		if r.Succeeded {
			p.LastSuccessAt = &r.At
		}
		if r.Failure != "" {
			p.LastFailureAt = &r.At
		}
		n, err := s.q.StreamAdvance(ctx, tx, p)
		return pool.Touched(n, err, lease.ErrLost, "move stream "+l.Name)
	})
}

// StreamStatuses implements broker.Store.
func (s *StreamStore) StreamStatuses(ctx context.Context, names []string) ([]broker.Status, error) {
	var list []broker.Status
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.StreamsStatus(ctx, c, append([]string{}, names...))
		if err != nil {
			return fmt.Errorf("read streams: %w", err)
		}
		list = make([]broker.Status, len(rows))
		for i, row := range rows {
			list[i] = broker.Status{
				Name: row.Name, Behind: row.Behind, LastSuccess: row.LastSuccessAt, LastFailure: row.LastFailureAt, LastError: row.LastFailure,
			}
			if row.Oldest.Unix() != 0 {
				list[i].Oldest = row.Oldest
			}
		}
		return nil
	})
	return list, err
}
