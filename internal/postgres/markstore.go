package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// MarkStore keeps the mark of the database, and the accounts that are held.

var _ watermark.Store = (*MarkStore)(nil)

// gap is the time without a rise of the mark that counts as a gap: the mark rises every few seconds.
const gap = 6 * watermark.Every

// undefinedTable is the SQLSTATE of a schema that has no mark yet.
const undefinedTable = "42P01"

// MarkStore is safe for concurrent use.
type MarkStore struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
}

// NewMarkStore returns a store on the connections of p.
func NewMarkStore(p *pool.Pool) *MarkStore { return &MarkStore{pool: p, q: dbsqlc.New()} }

// Watch makes the guard check each new connection. It skips a database without migrations. It must be called before the
// store is used.
func (s *MarkStore) Watch(g *watermark.Guard) {
	s.pool.OnConnect(func(ctx context.Context, c *pgx.Conn) error {
		err := g.Look(func() (watermark.Reading, error) { return s.read(ctx, c, g.Process()) })
		if since, seen, lost := g.Loss(); err == nil && lost { // before an event is written
			if err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error { return s.beginEpoch(ctx, tx, since, seen) }); err != nil {
				err = fmt.Errorf("begin an epoch of the feed on a new connection: %w", err)
			}
		}
		if missing := (*pgconn.PgError)(nil); errors.As(err, &missing) && missing.Code == undefinedTable {
			return nil
		}
		return err
	})
}

func (s *MarkStore) read(ctx context.Context, db dbsqlc.DBTX, of uuid.UUID) (watermark.Reading, error) {
	row, err := s.q.MarkRead(ctx, db, &dbsqlc.MarkReadParams{Process: of, Recently: watermark.Recent.Seconds(), Lately: watermark.Alive.Seconds()})
	if err != nil {
		return watermark.Reading{}, fmt.Errorf("read the mark: %w", err)
	}
	r := watermark.Reading{Mark: watermark.Mark{Database: row.DatabaseID, Server: row.Server, Count: row.Mark, At: row.MarkedAt}, Held: row.Held, Started: row.Started, Crashed: row.Crashed, Waits: row.Waits}
	if row.Beat.Unix() > 0 {
		r.Beat = row.Beat
	}
	if row.GapFrom != nil && row.GapTo != nil {
		r.GapFrom, r.GapTo = *row.GapFrom, *row.GapTo
	}
	if row.Noticed.Unix() > 0 {
		r.Noticed = row.Noticed
	}
	for _, text := range row.Silent {
		var p watermark.Process
		id, rest, _ := strings.Cut(text, " ")
		recent, name, _ := strings.Cut(rest, " ")
		if p.ID, err = uuid.Parse(id); err != nil {
			return r, fmt.Errorf("read the processes: %w", err)
		}
		p.Recent, p.Name = recent == "true", name
		r.Silent = append(r.Silent, p)
	}
	return r, nil
}

// ReadMark implements watermark.Store.
func (s *MarkStore) ReadMark(ctx context.Context, of uuid.UUID) (r watermark.Reading, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		r, err = s.read(ctx, c, of)
		return err
	})
	return r, err
}

// RaiseMark implements watermark.Store.
func (s *MarkStore) RaiseMark(ctx context.Context, above int64) (m watermark.Mark, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.MarkRaise(ctx, c, &dbsqlc.MarkRaiseParams{Above: above, Gap: gap.Seconds()})
		if err != nil {
			return fmt.Errorf("raise the mark: %w", err)
		}
		m = watermark.Mark{Database: row.DatabaseID, Count: row.Mark, At: row.MarkedAt}
		return nil
	})
	return m, err
}

// clocks is how far the clocks of two servers may differ that have had the same database.
const clocks = time.Minute

// BeginEpoch implements watermark.Store.
func (s *MarkStore) BeginEpoch(ctx context.Context, since, seen time.Time) error {
	return s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error { return s.beginEpoch(ctx, tx, since, seen) })
}

func (s *MarkStore) beginEpoch(ctx context.Context, tx dbsqlc.DBTX, since, seen time.Time) error {
	err := s.q.OutboxHeadHold(ctx, tx)
	if err != nil {
		return fmt.Errorf("hold the head of the feed: %w", err)
	}
	shared, err := s.q.FeedEpochBegin(ctx, tx, &dbsqlc.FeedEpochBeginParams{Since: since.Add(-clocks), Seen: seen})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // another process has noticed the same loss
	}
	for _, back := range []func(context.Context, dbsqlc.DBTX, int64) error{s.q.EndpointsTakeBack, s.q.StreamsTakeBack, s.q.NoticesTakeBack} {
		if err == nil {
			err = back(ctx, tx, shared)
		}
	}
	if err != nil {
		return fmt.Errorf("begin an epoch of the feed: %w", err)
	}
	return nil
}

// HoldPays implements watermark.Store.
func (s *MarkStore) HoldPays(ctx context.Context, accounts []string, since time.Time, reason watermark.Reason) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if err := s.q.PayHold(ctx, c, &dbsqlc.PayHoldParams{Accounts: accounts, Since: since, Reason: string(reason)}); err != nil {
			return fmt.Errorf("hold pays: %w", err)
		}
		return nil
	})
}

// errOtherServer is returned when a connection leads to another server than the connection before.
var errOtherServer = fmt.Errorf("%w: the address leads to several servers", payment.ErrUnavailable)

// Lost implements watermark.Store.
func (s *MarkStore) Lost(ctx context.Context, server string, of watermark.Process, beatAt time.Time, commits []watermark.Commit) (lost []string, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		lost = nil
		if r, err := s.read(ctx, c, of.ID); err != nil {
			return err
		} else if r.Server != server {
			return errOtherServer
		}
		if !beatAt.IsZero() {
			kept, err := s.q.BeatKept(ctx, c, &dbsqlc.BeatKeptParams{BeatAt: beatAt, Process: of.ID, Life: watermark.Life.Seconds()})
			if err != nil {
				return fmt.Errorf("look up the heartbeat of %s: %w", of.Name, err)
			}
			if !kept {
				lost = append(lost, fmt.Sprintf("the heartbeat of %s at %s", of.Name, beatAt.Format(time.RFC3339Nano)))
			}
		}
		for _, of := range commits {
			kept, err := s.q.CommitKept(ctx, c, &dbsqlc.CommitKeptParams{
				Kind: string(of.Kind), OrderID: of.Order, ID: of.ID, Operation: of.Operation, Number: of.Number, Fence: of.Fence, At: of.At,
				Batch: of.Batch, Position: of.Position, Life: watermark.Life.Seconds(),
			})
			if err != nil {
				return fmt.Errorf("look up %s: %w", of, err)
			}
			if !kept {
				lost = append(lost, of.String())
			}
		}
		return nil
	})
	return lost, err
}

// Beat implements watermark.Store.
func (s *MarkStore) Beat(ctx context.Context, p watermark.Process, server string) (at time.Time, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if at, err = s.q.ProcessBeat(ctx, c, &dbsqlc.ProcessBeatParams{Process: p.ID, Name: p.Name, Server: server}); err != nil {
			return fmt.Errorf("write that this process lives: %w", err)
		}
		return nil
	})
	return at, err
}

// Leave implements watermark.Store.
func (s *MarkStore) Leave(ctx context.Context, p watermark.Process) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if err := s.q.ProcessLeave(ctx, c, p.ID); err != nil {
			return fmt.Errorf("write that this process has ended: %w", err)
		}
		return nil
	})
}

// Forget implements watermark.Store.
func (s *MarkStore) Forget(ctx context.Context, list []watermark.Process) error {
	ids := make([]uuid.UUID, len(list))
	for i, p := range list {
		ids[i] = p.ID
	}
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if err := s.q.ProcessesForget(ctx, c, &dbsqlc.ProcessesForgetParams{Processes: ids, Life: watermark.Life.Seconds()}); err != nil {
			return fmt.Errorf("forget processes: %w", err)
		}
		return nil
	})
}

// Holds lists the open holds, by account.
func (s *MarkStore) Holds(ctx context.Context) (list []watermark.Hold, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.PayHolds(ctx, c)
		if err != nil {
			return fmt.Errorf("read the holds of pays: %w", err)
		}
		list = nil
		for _, r := range rows {
			list = append(list, watermark.Hold{Account: r.Account, Since: r.Since, HeldAt: r.HeldAt, Reason: watermark.Reason(r.Reason)})
		}
		return nil
	})
	return list, err
}

// Release releases the hold of an account if it was made no later than heldUntil, and reports whether a hold existed.
func (s *MarkStore) Release(ctx context.Context, account, by string, heldUntil time.Time) (released bool, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		n, err := s.q.PayRelease(ctx, c, &dbsqlc.PayReleaseParams{ReleasedBy: by, Account: account, HeldUntil: heldUntil})
		if err != nil {
			return fmt.Errorf("release the pays of %s: %w", account, err)
		}
		released = n > 0
		return nil
	})
	return released, err
}
