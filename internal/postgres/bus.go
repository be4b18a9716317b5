package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/platform/stream"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// Bus announces changes between processes, by LISTEN and NOTIFY, and reads the progress of attempts.

const (
	// listenerName is the listening session's application_name.
	listenerName = "paylatch listen"
	// quiet is how long nothing may come before the connection is pinged, pingTime
	// bounds that.
	quiet    = 20 * time.Second
	pingTime = 5 * time.Second
	// probe begins the notices that test a listening session.
	probe = "probe "
)

// ErrDeaf is returned for a listening session that gets no notice. Behind a pooler that gives each transaction another
// session, LISTEN succeeds without effect.
var ErrDeaf = errors.New("LISTEN receives no notices: the address probably leads to a pooler; set database.direct_url to an address without a pooler")

var _ stream.Bus = (*Bus)(nil)

// Bus is the notices of one schema of a database. It is safe for concurrent use.
type Bus struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
}

// NewBus returns the bus on a pool.
func NewBus(p *pool.Pool) *Bus { return &Bus{p, dbsqlc.New()} }

// Listen implements stream.Bus with a connection of its own, outside the pool.
func (b *Bus) Listen(ctx context.Context, ready func(), heard func(notice string)) error {
	conn, err := b.pool.Connect(ctx, listenerName)
	if err != nil {
		return err
	}
	defer func() {
		rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(rest)
	}()
	channel, err := b.q.AttemptsChannel(ctx, conn)
	if err != nil {
		return fmt.Errorf("name the channel: %w", err)
	}
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if err := b.tryNotice(ctx, conn, heard); err != nil {
		return err
	}
	ready()
	for {
		notice, err := await(ctx, conn)
		switch {
		case err != nil:
			return err
		case notice != nil && !strings.HasPrefix(notice.Payload, probe):
			heard(notice.Payload)
		}
	}
}

// tryNotice announces something by another session, and returns ErrDeaf if it does not come.
func (b *Bus) tryNotice(ctx context.Context, conn *pgx.Conn, heard func(notice string)) error {
	limited, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	mine := probe + rand.Text()
	if err := b.Announce(limited, []string{mine}); err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	for {
		notice, err := conn.WaitForNotification(limited)
		switch {
		case err != nil && ctx.Err() == nil && limited.Err() != nil:
			return ErrDeaf
		case err != nil:
			return fmt.Errorf("probe: %w", err)
		case notice.Payload == mine:
			return nil
		case !strings.HasPrefix(notice.Payload, probe):
			heard(notice.Payload)
		}
	}
}

// await returns the next notice. After a quiet period it checks the connection and returns no notice.
func await(ctx context.Context, conn *pgx.Conn) (*pgconn.Notification, error) {
	limited, cancel := context.WithTimeout(ctx, quiet)
	defer cancel()
	notice, err := conn.WaitForNotification(limited)
	if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return notice, err //nolint:wrapcheck // it is whole
	}
	limit, stop := context.WithTimeout(ctx, pingTime)
	defer stop()
	if err := conn.Ping(limit); err != nil {
		return nil, fmt.Errorf("ping: %w", err)
	}
	return nil, nil
}

// Announce implements stream.Bus.
func (b *Bus) Announce(ctx context.Context, notices []string) error {
	return b.pool.Notices(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return b.q.AttemptsAnnounce(ctx, c, notices)
	})
}

// Moved implements stream.Bus.
func (b *Bus) Moved(ctx context.Context, ids []stream.ID, versions []int32) ([]stream.ID, error) {
	p := &dbsqlc.AttemptsMovedParams{AttemptIds: asUUIDs(ids), Versions: versions}
	var moved []stream.ID
	err := b.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := b.q.AttemptsMoved(ctx, c, p)
		for _, id := range rows {
			moved = append(moved, stream.ID(id))
		}
		return err
	})
	return moved, err
}
