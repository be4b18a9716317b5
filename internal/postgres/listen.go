package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/stream"
)

const (
	// channel is where processes tell each other what has changed.
	channel = "paylatch_attempts"
	// listenerName is the listening session's application_name.
	listenerName = "paylatch listen"
	// silence is how long the connection may say nothing before it is asked
	// whether it is there, pingTime how long it may think about that.
	silence  = 20 * time.Second
	pingTime = 5 * time.Second
)

var _ stream.Bus = (*Store)(nil)

// OnChange has changed told, after each commit, which attempts have a new
// version. It must not wait for anything, and be set before the store is used.
func (s *Store) OnChange(changed func([]stream.ID)) { s.changed = changed }

// move notes attempts whose version rises.
func (t *txn) move(changes []payment.Change) {
	for i := range changes {
		if changes[i].Attempt.Version != changes[i].Was {
			t.moved = append(t.moved, stream.ID(changes[i].Attempt.ID))
		}
	}
}

// tell is called after the commit.
func (t *txn) tell(changed func([]stream.ID)) {
	if changed != nil && len(t.moved) > 0 {
		changed(t.moved)
	}
}

// Listen implements stream.Bus with a connection of its own, outside the pool.
func (s *Store) Listen(ctx context.Context, ready func(), heard func(notice string)) error {
	c := s.pool.Config().ConnConfig.Copy()
	c.RuntimeParams["application_name"] = listenerName
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() {
		rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(rest)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	ready()
	for {
		notice, err := await(ctx, conn)
		switch {
		case err != nil:
			return err
		case notice != nil:
			heard(notice.Payload)
		}
	}
}

// await returns the next notice, or none after a while in which the connection
// was found to be there.
func await(ctx context.Context, conn *pgx.Conn) (*pgconn.Notification, error) {
	patience, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	notice, err := conn.WaitForNotification(patience)
	if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return notice, err //nolint:wrapcheck // it says all there is
	}
	limit, stop := context.WithTimeout(ctx, pingTime)
	defer stop()
	if err := conn.Ping(limit); err != nil {
		return nil, fmt.Errorf("ping: %w", err)
	}
	return nil, nil
}

// Announce implements stream.Bus.
func (s *Store) Announce(ctx context.Context, notices []string) error {
	return on(ctx, s.notices, func(ctx context.Context, c *pgxpool.Conn) error {
		return s.q.AttemptsAnnounce(ctx, c, &dbsqlc.AttemptsAnnounceParams{Channel: channel, Notices: notices})
	})
}

// Moved implements stream.Bus.
func (s *Store) Moved(ctx context.Context, ids []stream.ID, versions []int32) ([]stream.ID, error) {
	p := &dbsqlc.AttemptsMovedParams{AttemptIds: uuids(ids), Versions: versions}
	var moved []stream.ID
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.AttemptsMoved(ctx, c, p)
		for _, id := range rows {
			moved = append(moved, stream.ID(id))
		}
		return err
	})
	return moved, err
}
