package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// EndpointStore stores the progress of the merchant's endpoints, their pending retries, and the log of
// deliveries.

var _ endpoint.Store = (*EndpointStore)(nil)

// EndpointStore keeps the endpoints. It is safe for concurrent use.
type EndpointStore struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
}

// NewEndpointStore returns a store on the connections of p.
func NewEndpointStore(p *pool.Pool) *EndpointStore { return &EndpointStore{pool: p, q: dbsqlc.New()} }

// RegisterEndpoints implements endpoint.Store.
func (s *EndpointStore) RegisterEndpoints(ctx context.Context, digests map[string][]byte) error {
	return s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		p := &dbsqlc.EndpointsRegisterParams{Names: slices.Sorted(maps.Keys(digests)), UrlDigests: [][]byte{}}
		for _, name := range p.Names {
			p.UrlDigests = append(p.UrlDigests, digests[name])
		}
		if err := s.q.EndpointsRegister(ctx, tx, p); err != nil {
			return fmt.Errorf("register endpoints: %w", err)
		}
		return nil
	})
}

// TakeEndpoint implements endpoint.Store.
func (s *EndpointStore) TakeEndpoint(ctx context.Context, name string, life time.Duration) (lease.Lease, error) {
	l := lease.Lease{Name: name}
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		l.Fence, err = s.q.EndpointTake(ctx, c, &dbsqlc.EndpointTakeParams{Seconds: life.Seconds(), Name: name})
		if err != nil {
			return fmt.Errorf("take the lease of endpoint %s: %w", name, pool.Missing(err, lease.ErrHeld))
		}
		return nil
	})
	return l, err
}

// RenewEndpoint implements endpoint.Store.
func (s *EndpointStore) RenewEndpoint(ctx context.Context, l lease.Lease, life time.Duration) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		n, err := s.q.EndpointRenew(ctx, c, &dbsqlc.EndpointRenewParams{Seconds: life.Seconds(), Name: l.Name, Fence: l.Fence})
		return pool.Touched(n, err, lease.ErrLost, "renew the lease of endpoint "+l.Name)
	})
}

// EndpointWork implements endpoint.Store.
func (s *EndpointStore) EndpointWork(ctx context.Context, l lease.Lease, w endpoint.Wanted) (endpoint.Work, error) {
	var work endpoint.Work
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		work = endpoint.Work{}
		at, err := s.q.EndpointRead(ctx, c, &dbsqlc.EndpointReadParams{Name: l.Name, Fence: l.Fence})
		if err != nil {
			return fmt.Errorf("read endpoint %s: %w", l.Name, pool.Missing(err, lease.ErrLost))
		}
		work.State, work.Epoch = endpoint.State(at.State), at.Epoch
		work.Position, work.Until = outbox.Position(at.Position), outbox.Position(at.Head)
		if work.State == endpoint.Gone {
			return nil
		}
		if err := s.readEvents(ctx, c, l, w, &work); err != nil {
			return err
		}
		return s.readRetries(ctx, c, l, w, &work)
	})
	return work, err
}

func (s *EndpointStore) readEvents(ctx context.Context, c *pgxpool.Conn, l lease.Lease, w endpoint.Wanted, work *endpoint.Work) error {
	from := work.Position
	if w.From.Epoch == work.Epoch {
		from = max(from, w.From.Position)
	}
	p, err := readCursor(ctx, s.q, c, outbox.Query{After: from, Until: work.Until, Types: w.Types, Limit: w.Events})
	if err != nil {
		return fmt.Errorf("endpoint %s: %w", l.Name, err)
	}
	work.Events, work.Until, work.Lost = p.Events, p.Until, p.Lost
	if len(p.Events) == 0 {
		return nil
	}
	subjects := make([]string, len(p.Events))
	for i, e := range p.Events {
		subjects[i] = e.Subject
	}
	open, err := s.q.EndpointOpenSubjects(ctx, c, &dbsqlc.EndpointOpenSubjectsParams{Endpoint: l.Name, Subjects: subjects})
	if err != nil {
		return fmt.Errorf("read which subjects of endpoint %s wait: %w", l.Name, err)
	}
	work.Waiting = make(map[string]bool, len(open))
	for _, subject := range open {
		work.Waiting[subject] = true
	}
	return nil
}

func (s *EndpointStore) readRetries(ctx context.Context, c *pgxpool.Conn, l lease.Lease, w endpoint.Wanted, work *endpoint.Work) error {
	due, err := s.q.EndpointDue(ctx, c, &dbsqlc.EndpointDueParams{Endpoint: l.Name, AtMost: int32(w.Retries)}) //nolint:gosec // a batch
	if err != nil {
		return fmt.Errorf("read retries of endpoint %s: %w", l.Name, err)
	}
	for _, row := range due {
		work.Due = append(work.Due, endpoint.Retry{Tries: int(row.Tries), Event: outboxEventFromRow(&dbsqlc.OutboxAfterRow{
			Position: row.Position, MessageID: row.MessageID, OrderID: row.OrderID, Subject: row.Subject, Type: row.Type,
			Version: row.Version, Payload: row.Payload, CreatedAt: row.CreatedAt,
		})})
	}
	switch seconds, err := s.q.EndpointNextDue(ctx, c, l.Name); {
	case err == nil:
		work.NextDue = new(time.Duration(seconds * float64(time.Second)))
	case !errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("read when endpoint %s has a retry: %w", l.Name, err)
	}
	return nil
}

// RecordDeliveries implements endpoint.Store.
func (s *EndpointStore) RecordDeliveries(ctx context.Context, l lease.Lease, r endpoint.Result) error {
	return s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		n, err := s.q.EndpointAdvance(ctx, tx, advanced(l, r))
		if err := pool.Touched(n, err, lease.ErrLost, "move endpoint "+l.Name); err != nil {
			return err
		}
		subjects, err := s.q.EndpointRetriesDelivered(ctx, tx, &dbsqlc.EndpointRetriesDeliveredParams{Endpoint: l.Name, Positions: positions(r.Delivered)})
		if err != nil {
			return fmt.Errorf("delete retries of endpoint %s: %w", l.Name, err)
		}
		if err := s.retry(ctx, tx, l.Name, r.Retries, subjects); err != nil {
			return err
		}
		if len(r.Attempts) == 0 {
			return nil
		}
		if err := s.q.EndpointDeliveriesInsert(ctx, tx.Deferred(), deliveries(l.Name, r.Attempts)); err != nil {
			return fmt.Errorf("log attempts of endpoint %s: %w", l.Name, err)
		}
		return nil
	})
}

// retry writes retries, and has the first of each subject, and of others that may have a new first, due. The caller has locked the
// endpoint.
func (s *EndpointStore) retry(ctx context.Context, tx *pipeline.Tx, name string, retries []endpoint.Retry, subjects []string) error {
	fresh, failed := retryParams(name, retries, tx.Now())
	for _, r := range retries {
		subjects = append(subjects, r.Event.Subject)
	}
	if len(subjects) == 0 {
		return nil
	}
	err := errors.Join(
		s.q.EndpointRetriesFailed(ctx, tx.Deferred(), failed),
		s.q.EndpointRetriesInsert(ctx, tx.Deferred(), fresh),
		s.q.EndpointRetriesDemote(ctx, tx.Deferred(), &dbsqlc.EndpointRetriesDemoteParams{Endpoint: name, Subjects: subjects}),
		s.q.EndpointRetriesPromote(ctx, tx.Deferred(), &dbsqlc.EndpointRetriesPromoteParams{Endpoint: name, Subjects: subjects}),
	)
	if err != nil {
		return fmt.Errorf("write retries of endpoint %s: %w", name, err)
	}
	return nil
}

// EndpointStatuses implements endpoint.Store.
func (s *EndpointStore) EndpointStatuses(ctx context.Context, names []string) ([]endpoint.Status, error) {
	var list []endpoint.Status
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.EndpointsStatus(ctx, c, append([]string{}, names...))
		if err != nil {
			return fmt.Errorf("read endpoints: %w", err)
		}
		list = make([]endpoint.Status, len(rows))
		for i, row := range rows {
			list[i] = status(row)
		}
		return nil
	})
	return list, err
}

// EndpointAttempts implements endpoint.Store.
func (s *EndpointStore) EndpointAttempts(ctx context.Context, name string, before int64, failed bool, limit int) ([]endpoint.Attempt, error) {
	var list []endpoint.Attempt
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.EndpointDeliveries(ctx, c, &dbsqlc.EndpointDeliveriesParams{
			Endpoint: name, Before: beforeOrAll(before), Failed: failed, AtMost: int32(limit), //nolint:gosec // a page
		})
		if err != nil {
			return fmt.Errorf("read attempts of endpoint %s: %w", name, err)
		}
		list = make([]endpoint.Attempt, len(rows))
		for i, row := range rows {
			list[i] = attempt(row)
		}
		return nil
	})
	return list, err
}

// SetEndpointBack implements endpoint.Store.
func (s *EndpointStore) SetEndpointBack(ctx context.Context, name string, to outbox.Position) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		n, err := s.q.EndpointSetBack(ctx, c, &dbsqlc.EndpointSetBackParams{Position: int64(to), Name: name})
		return pool.Touched(n, err, endpoint.ErrAhead, "set endpoint "+name+" back")
	})
}

// RetryEvents implements endpoint.Store.
func (s *EndpointStore) RetryEvents(ctx context.Context, name string, ids []uuid.UUID) error {
	return s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		n, err := s.q.EndpointActivate(ctx, tx, name)
		if err := pool.Touched(n, err, endpoint.ErrNotFound, "make endpoint "+name+" active"); err != nil {
			return err
		}
		rows, err := s.q.EndpointEvents(ctx, tx, &dbsqlc.EndpointEventsParams{Ids: append([]uuid.UUID{}, ids...), Endpoint: name})
		if err != nil {
			return fmt.Errorf("find events of endpoint %s: %w", name, err)
		}
		if unknown := without(ids, rows); len(unknown) > 0 {
			return &endpoint.UnknownError{IDs: unknown}
		}
		hasten := &dbsqlc.EndpointRetriesHastenParams{Now: tx.Now(), Endpoint: name, Positions: []int64{}}
		retries := make([]endpoint.Retry, len(rows))
		for i, row := range rows {
			hasten.Positions = append(hasten.Positions, row.Position)
			retries[i] = endpoint.Retry{New: true, Event: outbox.Event{
				Position: outbox.Position(row.Position), OrderID: row.OrderID, ID: row.MessageID, Subject: row.Subject,
			}}
		}
		if err := s.q.EndpointRetriesHasten(ctx, tx, hasten); err != nil {
			return fmt.Errorf("hasten retries of endpoint %s: %w", name, err)
		}
		return s.retry(ctx, tx, name, retries, nil)
	})
}

// PurgeDeliveries implements endpoint.Store.
func (s *EndpointStore) PurgeDeliveries(ctx context.Context, before time.Time, limit int) (purged int, lost map[string]int64, err error) {
	err = s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		n, err := s.q.EndpointDeliveriesPurge(ctx, tx, &dbsqlc.EndpointDeliveriesPurgeParams{AtMost: int32(limit), Before: before}) //nolint:gosec // a batch
		if err != nil {
			return fmt.Errorf("purge attempts: %w", err)
		}
		rows, err := s.q.EndpointRetriesPurge(ctx, tx, int32(limit)) //nolint:gosec // a batch
		if err != nil {
			return fmt.Errorf("purge retries: %w", err)
		}
		purged, lost = max(int(n), len(rows)), map[string]int64{}
		subjects := map[string][]string{}
		for _, row := range rows {
			subjects[row.Endpoint] = append(subjects[row.Endpoint], row.Subject)
			if row.State != dead {
				lost[row.Endpoint]++
			}
		}
		for _, name := range slices.Sorted(maps.Keys(subjects)) {
			if err := s.retry(ctx, tx, name, nil, subjects[name]); err != nil {
				return err
			}
		}
		return nil
	})
	return purged, lost, err
}

// dead is the state of a retry after the last try of the schedule: its loss was reported then.
const dead = "dead"
