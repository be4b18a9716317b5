package outbox_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/postgres"
)

// env is a feed over a database of its own.
type env struct {
	url   string
	store *postgres.Store
	head  *outbox.Head
	feed  *outbox.Feed
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{url: testdb.New(t), head: &outbox.Head{}}
	store := enginetest.Store(t, e.url)
	e.store, e.feed = store, outbox.NewFeed(store, e.head)
	return e
}

// numbering runs a numberer until the test, or stop, ends it.
func (e *env) numbering(t *testing.T) (n *outbox.Numberer, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	n = &outbox.Numberer{Store: e.store, Head: e.head, Log: testdb.Fails(t, "number")}
	running.Go(func() { _ = n.Run(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return n, stop
}

// number gives positions to all that is committed.
func (e *env) number(t *testing.T) {
	t.Helper()
	for {
		from, to, err := e.store.NumberEvents(t.Context(), 100)
		require.NoError(t, err)
		if to == from {
			return
		}
	}
}

func (e *env) begin(t *testing.T) pgx.Tx {
	t.Helper()
	tx, err := testdb.Connect(t, e.url).Begin(t.Context())
	require.NoError(t, err)
	return tx
}

// write inserts an event of a subject.
func write(ctx context.Context, tx pgx.Tx, kind, subject string, version int) error {
	_, err := tx.Exec(ctx, `WITH b AS (INSERT INTO outbox_batches (events, created_at) VALUES (1, now()) RETURNING batch)
		INSERT INTO outbox (batch, nth, order_id, message_id, subject, type, version, payload, created_at)
		SELECT batch, 1, 'o', $1, $2, $3, $4, '{}', now() FROM b`, uuid.New(), subject, kind, version)
	return err
}

func (e *env) commit(t *testing.T, kind, subject string, version int) {
	t.Helper()
	tx := e.begin(t)
	require.NoError(t, write(t.Context(), tx, kind, subject, version))
	require.NoError(t, tx.Commit(t.Context()))
}

func (e *env) read(t *testing.T, after outbox.Cursor, types ...string) outbox.Page {
	t.Helper()
	page, err := e.feed.Read(t.Context(), after, types, 100, 0)
	require.NoError(t, err)
	return page
}

func told(p outbox.Page) (told []string) {
	for _, e := range p.Events {
		told = append(told, fmt.Sprintf("%s %d", e.Subject, e.Version))
	}
	return told
}

func TestFeed(t *testing.T) {
	t.Parallel()
	t.Run("does not pass what is committed late", lateCommit)
	t.Run("passes what is of another type", otherTypes)
	t.Run("gives way to whoever numbers", taken)
	t.Run("refuses cursors", cursors)
	t.Run("begins at now", fromTheEnd)
	t.Run("wakes those who wait", waits)
	t.Run("never skips beside writers", neverSkips)
}

func lateCommit(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	late, early := e.begin(t), e.begin(t)
	require.NoError(t, write(t.Context(), late, outbox.OrderPaid, "late", 1))
	require.NoError(t, write(t.Context(), early, outbox.OrderPaid, "early", 1))
	require.NoError(t, early.Commit(t.Context()))
	e.number(t)
	page := e.read(t, outbox.Beginning())
	require.Equal(t, []string{"early 1"}, told(page))

	require.NoError(t, late.Commit(t.Context()))
	require.Empty(t, e.read(t, page.Next).Events, "it has no position yet")
	e.number(t)
	next := e.read(t, page.Next)
	require.Equal(t, []string{"late 1"}, told(next))
	require.Equal(t, []string{"early 1", "late 1"}, told(e.read(t, outbox.Beginning())))
	require.Empty(t, e.read(t, next.Next).Events)
}

func fromTheEnd(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	require.Empty(t, e.read(t, outbox.End()).Events, "nothing has happened")
	e.commit(t, outbox.OrderPaid, "before", 1)
	e.number(t)
	page := e.read(t, outbox.End())
	require.Empty(t, page.Events)
	e.commit(t, outbox.OrderPaid, "after", 1)
	e.number(t)
	require.Equal(t, []string{"after 1"}, told(e.read(t, page.Next)))
}

func otherTypes(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for i := range 5 {
		e.commit(t, outbox.OrderPaid, "paid", i)
	}
	e.commit(t, outbox.RefundFailed, "refund", 1)
	e.number(t)
	page := e.read(t, outbox.Beginning(), outbox.RefundFailed, outbox.RefundSucceeded)
	require.Equal(t, []string{"refund 1"}, told(page))
	none := e.read(t, outbox.Beginning(), outbox.OrderCancelled)
	require.Empty(t, none.Events)
	require.Equal(t, page.Next, none.Next, "what is of no wanted type is not read again")

	first, err := e.feed.Read(t.Context(), outbox.Beginning(), nil, 2, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"paid 0", "paid 1"}, told(first))
	require.Equal(t, []string{"paid 2", "paid 3", "paid 4", "refund 1"}, told(e.read(t, first.Next)))
}

// taken holds the head's lock as another process does.
func taken(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.commit(t, outbox.OrderPaid, "paid", 1)
	other := e.begin(t)
	_, err := other.Exec(t.Context(), "SELECT FROM outbox_head FOR UPDATE")
	require.NoError(t, err)
	from, to, err := e.store.NumberEvents(t.Context(), 100)
	require.NoError(t, err)
	require.Zero(t, from)
	require.Zero(t, to)
	require.NoError(t, other.Rollback(t.Context()))
	_, to, err = e.store.NumberEvents(t.Context(), 100)
	require.NoError(t, err)
	require.EqualValues(t, 1, to)
}

func cursors(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for _, text := range []string{"x", "-1", "1.5", "99999999999999999999", "e1-", "-e1-1", "0-1", "e1-1-1", "e1-x", "!-1"} {
		_, err := outbox.ParseCursor(text)
		require.ErrorIs(t, err, outbox.ErrCursorInvalid, text)
	}
	_, err := e.feed.Read(t.Context(), outbox.Cursor{Position: 7}, nil, 10, 0)
	require.ErrorIs(t, err, outbox.ErrCursorInvalid, "it is ahead")

	for i := range 4 {
		e.commit(t, outbox.OrderPaid, "paid", i)
	}
	e.number(t)
	n, err := e.store.PurgeEvents(t.Context(), time.Now().Add(time.Hour), 2)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	for cursor, want := range map[outbox.Position]error{0: outbox.ErrCursorExpired, 1: outbox.ErrCursorExpired, 2: nil, 4: nil} {
		_, err = e.feed.Read(t.Context(), outbox.Cursor{Position: cursor}, nil, 10, 0)
		require.ErrorIs(t, err, want, cursor)
	}
	require.Equal(t, []string{"paid 2", "paid 3"}, told(e.read(t, outbox.Beginning())))

	n, err = e.store.PurgeEvents(t.Context(), time.Now().Add(-time.Hour), 2)
	require.NoError(t, err)
	require.Zero(t, n, "they are younger")
	_, err = e.store.PurgeEvents(t.Context(), time.Now().Add(time.Hour), 10)
	require.NoError(t, err)
	_, err = e.feed.Read(t.Context(), outbox.Cursor{Position: 3}, nil, 10, 0)
	require.ErrorIs(t, err, outbox.ErrCursorExpired)
	require.Equal(t, outbox.Cursor{Position: 4}, e.read(t, outbox.Cursor{Position: 4}).Next)
}

func waits(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	n, stop := e.numbering(t)
	began := time.Now()
	page, err := e.feed.Read(t.Context(), outbox.Beginning(), nil, 10, 50*time.Millisecond)
	require.NoError(t, err)
	require.Empty(t, page.Events)
	require.GreaterOrEqual(t, time.Since(began), 50*time.Millisecond)

	read := make(chan outbox.Page, 1)
	wait := func(types ...string) {
		page, err := e.feed.Read(t.Context(), page.Next, types, 10, 10*time.Minute)
		if err != nil {
			t.Errorf("read: %v", err)
		}
		read <- page
	}
	go wait(outbox.RefundFailed)
	e.commit(t, outbox.OrderPaid, "paid", 1)
	e.commit(t, outbox.RefundFailed, "refund", 1)
	n.Wake()
	require.Equal(t, []string{"refund 1"}, told(<-read))

	go wait(outbox.OrderCancelled)
	stop()
	require.Empty(t, (<-read).Events, "the process ends, and the wait with it")
}

// neverSkips writes versions of many subjects at once, commits some of them late, and reads meanwhile.
func neverSkips(t *testing.T) {
	t.Parallel()
	const writers, each, subjects = 12, 60, 5
	e := newEnv(t)
	locks := e.begin(t)
	_, err := locks.Exec(t.Context(), "CREATE TABLE subjects AS SELECT n, 0 AS version FROM generate_series(0, $1::int - 1) n", subjects)
	require.NoError(t, err)
	require.NoError(t, locks.Commit(t.Context()))
	for range 3 { // as three processes
		e.numbering(t)
	}
	var writing sync.WaitGroup
	for range writers {
		conn := testdb.Connect(t, e.url)
		writing.Go(func() {
			for range each {
				if err := change(t.Context(), conn, rand.N(subjects)); err != nil {
					t.Errorf("write: %v", err)
				}
			}
		})
	}
	seen, versions := 0, map[string]int{}
	cursor := outbox.Beginning()
	for seen < writers*each {
		page, err := e.feed.Read(t.Context(), cursor, nil, 1+rand.N(50), 5*time.Minute)
		require.NoError(t, err)
		require.NotEmpty(t, page.Events, "%d of %d events were read, and no more come", seen, writers*each)
		for _, event := range page.Events {
			require.Equal(t, versions[event.Subject]+1, event.Version, "of subject %s", event.Subject)
			versions[event.Subject] = event.Version
			seen++
		}
		cursor = page.Next
	}
	writing.Wait()
	page, err := e.feed.Read(t.Context(), cursor, nil, 1, 0)
	require.NoError(t, err)
	require.Empty(t, page.Events, "each event comes once")
}

// change writes the next version of a subject under its lock, and commits some time later.
func change(ctx context.Context, conn *pgx.Conn, subject int) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// The transaction draws its id before it has the lock, as one that locks several subjects does.
		if _, err := tx.Exec(ctx, "SELECT pg_current_xact_id()"); err != nil {
			return err
		}
		var version int
		if err := tx.QueryRow(ctx, "UPDATE subjects SET version = version + 1 WHERE n = $1 RETURNING version", subject).Scan(&version); err != nil {
			return err
		}
		if err := write(ctx, tx, outbox.AttemptUpdated, strconv.Itoa(subject), version); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "SELECT pg_sleep($1)", rand.Float64()*0.02)
		return err
	})
}
