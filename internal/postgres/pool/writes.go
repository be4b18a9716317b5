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
	// tryEvery is how long the outcome of a write that was tried counts.
	tryEvery = time.Second
	// tryTimeout bounds that write, also for a commit that waits for a standby.
	tryTimeout = 2 * time.Second
)

const (
	// tryWrite locks a row that is always there. The lock is written into the row and its commit is flushed, but it leaves no dead row,
	// and waits neither for other processes that try nor for the rise of the mark. A server that only reads refuses it.
	tryWrite = "SELECT FROM service_marks FOR KEY SHARE"
	// tryDisk exceeds work_mem, so the server makes a temporary file. A full disk has no place for it; a row may find some in its table.
	tryDisk = "SET LOCAL work_mem = '64kB'; SELECT count(*) FROM generate_series(1, 10000)"
)

// tried is the last tried write, shared by concurrent and slightly later callers. It is safe for concurrent use.
type tried struct {
	mu sync.Mutex
	// last is nil when its time is over.
	last *outcome
}

type outcome struct {
	done chan struct{}
	err  error // written before done is closed
}

// TakesWrites reports whether the database takes writes. It tries one at most once a second for all callers, and waits for it no longer
// than the context. A schema without the table is for Migrated to report.
func (p *Pool) TakesWrites(ctx context.Context) error {
	o := p.tried.share(func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tryTimeout)
		defer cancel()
		return p.on(ctx, p.conns, tryToWrite)
	})
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		return unavailable(fmt.Errorf("try a write: %w", ctx.Err()))
	}
}

// share returns the outcome that counts now, of a try that may have just begun.
func (t *tried) share(try func() error) *outcome {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last != nil {
		return t.last
	}
	o := &outcome{done: make(chan struct{})}
	t.last = o
	go func() {
		o.err = try()
		close(o.done)
		time.AfterFunc(tryEvery, t.forget)
	}()
	return o
}

func (t *tried) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = nil
}

func tryToWrite(ctx context.Context, c *pgxpool.Conn) error {
	var refused *pgconn.PgError
	if _, err := c.Exec(ctx, tryWrite); err != nil {
		if errors.As(err, &refused) && refused.Code == "42P01" {
			return nil
		}
		return fmt.Errorf("try a write: %w", err)
	}
	if _, err := c.Exec(ctx, tryDisk); err != nil {
		if errors.As(err, &refused) && refused.Code == "53400" { // temp_file_limit: the disk may be fine
			return nil
		}
		return fmt.Errorf("try to fill a temporary file: %w", err)
	}
	return nil
}
