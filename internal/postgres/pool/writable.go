package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// writeEvery is how often the trial write is made at most.
	writeEvery = time.Second
	// writeTime bounds it. It is less than what /readyz gives a check.
	writeTime = 1800 * time.Millisecond
	// undefinedTable is the SQLSTATE of a schema without the table.
	undefinedTable = "42P01"
)

// Writable reports whether the database answers and takes a write, which a standby and a read-only database do not. The
// answer of the write may be writeEvery old.
func (p *Pool) Writable(ctx context.Context) error {
	if err := p.Ping(ctx); err != nil {
		return err
	}
	return p.trial.shared(ctx, p.write)
}

// write writes a row anew as it is. A database without the row's table lacks migrations, which Migrated reports.
func (p *Pool) write(ctx context.Context) error {
	return on(ctx, p.conns, func(ctx context.Context, c *pgxpool.Conn) error {
		_, err := c.Exec(ctx, "UPDATE service_marks SET marked_at = marked_at")
		if missing := (*pgconn.PgError)(nil); errors.As(err, &missing) && missing.Code == undefinedTable {
			return nil
		}
		if err != nil {
			return fmt.Errorf("try a write: %w", err)
		}
		return nil
	})
}

// trial is a write that concurrent callers share. It is safe for concurrent use.
type trial struct {
	mu   sync.Mutex
	last *tried
}

// tried is one write, under way until done is closed.
type tried struct {
	done chan struct{}
	err  error
	// aged is sent to writeEvery after the beginning.
	aged <-chan time.Time
}

// shared returns the result of the last write, or of a new one where that is older than writeEvery. At most one is under way; it goes on
// without its caller, for writeTime at most.
func (t *trial) shared(ctx context.Context, write func(context.Context) error) error {
	last := t.current(ctx, write)
	select {
	case <-last.done:
		return last.err
	case <-ctx.Done():
		return unavailable(ctx.Err())
	}
}

func (t *trial) current(ctx context.Context, write func(context.Context) error) *tried {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last.fresh() {
		return t.last
	}
	began := &tried{done: make(chan struct{}), aged: time.After(writeEvery)}
	t.last = began
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	go func() {
		defer cancel()
		defer close(began.done)
		began.err = write(ctx)
	}()
	return began
}

// fresh reports whether a write is under way or began within writeEvery.
func (t *tried) fresh() bool {
	if t == nil {
		return false
	}
	select {
	case <-t.done:
	default:
		return true
	}
	select {
	case <-t.aged:
		return false
	default:
		return true
	}
}
