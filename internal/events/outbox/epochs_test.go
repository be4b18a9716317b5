package outbox_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
)

// exec executes a statement as the owner of the database.
func (e *env) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := testdb.Connect(t, e.url).Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// restore forgets all events behind a position, as if a backup had been put in the place of the database.
func (e *env) restore(t *testing.T, head outbox.Position) {
	t.Helper()
	e.exec(t, "DELETE FROM outbox WHERE batch IN (SELECT batch FROM outbox_batches WHERE last > $1)", int64(head))
	e.exec(t, "DELETE FROM outbox_batches WHERE last > $1", int64(head))
	e.exec(t, "UPDATE outbox_head SET last = $1", int64(head))
}

// epoch has the database notice a loss of what was written since a time.
func (e *env) epoch(t *testing.T, since time.Time) {
	t.Helper()
	require.NoError(t, e.store.Marks().BeginEpoch(t.Context(), since, since))
}

// aged moves the events of before into the past, so that they are older than the clocks of two servers differ.
func (e *env) aged(t *testing.T, by time.Duration) {
	t.Helper()
	e.exec(t, "ALTER TABLE outbox_batches DISABLE TRIGGER outbox_guard")
	e.exec(t, "UPDATE outbox_batches SET created_at = created_at - make_interval(secs => $1)", by.Seconds())
	e.exec(t, "ALTER TABLE outbox_batches ENABLE TRIGGER outbox_guard")
}

// restart is the cursor from which a refused reader goes on.
func (e *env) restart(t *testing.T, cursor outbox.Cursor) outbox.Cursor {
	t.Helper()
	_, err := e.feed.Read(t.Context(), cursor, nil, 100, 0)
	require.ErrorIs(t, err, outbox.ErrCursorExpired, cursor)
	lost, is := errors.AsType[*outbox.ExpiredError](err)
	require.True(t, is, cursor)
	return lost.RestartAfter
}

// TestEpochs restores a database twice. The second restore goes behind the first one, and forgets its epoch.
func TestEpochs(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for i := range 4 {
		e.commit(t, outbox.OrderPaid, "kept", i)
	}
	e.number(t)
	e.aged(t, time.Hour)
	for i := range 4 {
		e.commit(t, outbox.OrderPaid, "lost", i)
	}
	e.number(t)
	require.Equal(t, "8", e.read(t, outbox.Beginning()).Next.String())

	e.restore(t, 4)
	since := time.Now()
	e.commit(t, outbox.OrderPaid, "after", 1) // a process that knew nothing of the restore gives it a position
	e.number(t)
	e.epoch(t, since)
	e.epoch(t, since) // as another process that noticed it
	e.commit(t, outbox.OrderPaid, "after", 2)
	e.number(t)
	at := func(p outbox.Position) outbox.Cursor { return outbox.Cursor{Position: p} }
	require.Equal(t, []string{"kept 3", "after 1", "after 2"}, told(e.read(t, at(3))), "what was read is as it was")
	present := e.read(t, at(4)).Next
	require.Positive(t, present.Epoch)
	require.EqualValues(t, 6, present.Position)
	for _, lost := range []outbox.Position{5, 6, 8, 1000} {
		from := e.restart(t, at(lost))
		require.Equal(t, outbox.Cursor{Epoch: present.Epoch, Position: 4}, from)
		require.Equal(t, []string{"after 1", "after 2"}, told(e.read(t, from)))
	}
	require.Empty(t, e.read(t, present).Events)
	again, err := outbox.ParseCursor(present.String())
	require.NoError(t, err)
	require.Equal(t, present, again)
	require.Regexp(t, "^[0-9a-z]{1,7}-6$", present.String())

	e.restore(t, 2)
	e.exec(t, "DELETE FROM feed_epochs")
	e.exec(t, "INSERT INTO feed_epochs (epoch, shared) VALUES ($1, 2)", present.Epoch+1)
	e.commit(t, outbox.OrderPaid, "again", 1)
	e.number(t)
	require.Equal(t, []string{"again 1"}, told(e.read(t, at(2))))
	require.Equal(t, outbox.Cursor{Epoch: present.Epoch + 1, Position: 2}, e.restart(t, at(3)))
	from := e.restart(t, present)
	require.Equal(t, outbox.Cursor{Epoch: present.Epoch + 1}, from, "nothing is known of a forgotten epoch: from the oldest event")
	require.Equal(t, []string{"kept 0", "kept 1", "again 1"}, told(e.read(t, from)))

	_, err = e.store.PurgeEvents(t.Context(), time.Now().Add(time.Hour), 100)
	require.NoError(t, err)
	_, err = e.feed.Read(t.Context(), at(8), nil, 100, 0)
	require.ErrorIs(t, err, outbox.ErrCursorExpired)
	_, is := errors.AsType[*outbox.ExpiredError](err)
	require.False(t, is, "events of after the restore are not kept any more: some may be missed")
}

// TestNoPositionWhileUnsettled gives no position out while the database may have forgotten commits, and judges no cursor ahead.
func TestNoPositionWhileUnsettled(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	settled, asked := make(chan struct{}), make(chan struct{}, 1)
	e.head.Unsettled = func() bool {
		select {
		case asked <- struct{}{}:
		default:
		}
		select {
		case <-settled:
			return false
		default:
			return true
		}
	}
	e.commit(t, outbox.OrderPaid, "paid", 1)
	e.numbering(t)
	for range 3 {
		<-asked
	}
	require.Empty(t, e.read(t, outbox.Beginning()).Events)
	_, err := e.feed.Read(t.Context(), outbox.Cursor{Position: 7}, nil, 10, 0)
	require.ErrorIs(t, err, payment.ErrUnavailable)
	close(settled)
	page, err := e.feed.Read(t.Context(), outbox.Beginning(), nil, 10, 10*time.Minute)
	require.NoError(t, err)
	require.Equal(t, []string{"paid 1"}, told(page))
}
