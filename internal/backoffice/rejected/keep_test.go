package rejected_test

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/rejected"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
)

// TestKeepBounds keeps more than the bounds of an account: the newest stay.
func TestKeepBounds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ n, size, stay int }{
		"deliveries": {1100, 10, 1000},
		"bytes":      {17, 1<<20 - 4096, 16},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			d := e.by(account(t, "wrong"))
			other := e.delivery("evt_other", "right", 0)
			keep(d, "beside", other)
			for i := range tt.n {
				one := e.delivery(fmt.Sprintf("evt_%d", i), "right", 0)
				one.Body = append(one.Body, bytes.Repeat([]byte(" "), tt.size)...)
				keep(d, "acc", one)
				e.after(time.Second)
				if i%10 == 0 || tt.size > 1000 {
					require.NoError(t, d.Flush(t.Context()))
				}
			}
			require.NoError(t, d.Flush(t.Context()))
			require.Empty(t, e.dropped)
			require.EqualValues(t, tt.stay, e.kept())
			require.LessOrEqual(t, testdb.One[int64](t, e.conn, `SELECT sum(octet_length(sealed)) FROM rejected_deliveries WHERE account = 'acc'`), int64(rejected.MostBytes))
			require.Equal(t, 1, testdb.One[int](t, e.conn, `SELECT count(*) FROM rejected_deliveries WHERE account = 'beside'`))
			ends := testdb.One[time.Time](t, e.conn, `SELECT min(received_at) FROM rejected_deliveries WHERE account = 'acc'`)
			require.Equal(t, e.clock().Add(-time.Duration(tt.stay)*time.Second), ends.UTC(), "the oldest went")

			_, err := e.conn.Exec(t.Context(), `UPDATE rejected_deliveries SET received_at = now() - interval '25 hours' WHERE account = 'acc'`)
			require.NoError(t, err)
			n, err := e.store.PurgeRejected(t.Context(), rejected.Life, 2000)
			require.NoError(t, err)
			require.Equal(t, tt.stay, n)
			require.Equal(t, 1, testdb.One[int](t, e.conn, `SELECT count(*) FROM rejected_deliveries`), "the other's is not a day old")
		})
	}
}

// TestKeepFlood makes a network send at the maximum rate: few of its deliveries are written, and the deliveries of another
// network are kept beside them.
func TestKeepFlood(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	d := e.by(account(t, "wrong"))
	forged, genuine := e.delivery("evt_forged", "another", 0), e.delivery("evt_1", "right", 0)
	genuine.RemoteAddr = netip.MustParseAddr("198.51.100.1")
	for range 10 {
		for range 2000 {
			keep(d, "acc", forged)
		}
		keep(d, "acc", genuine)
		e.after(time.Second)
		require.NoError(t, d.Flush(t.Context()))
	}
	require.LessOrEqual(t, e.kept(), int64(100+10*10+10))
	e.verifiesAll(e.by(account(t, "right")))
	require.Len(t, e.taken, 10)
	require.Positive(t, e.dropped["acc"])
}

// TestKeepFloodOfMany has each forged delivery come from a network of its own: the account's limit is left.
func TestKeepFloodOfMany(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	d := e.by(account(t, "wrong"))
	forged := e.delivery("evt_forged", "another", 0)
	for i := range 2000 {
		forged.RemoteAddr = netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 1})
		keep(d, "acc", forged)
		keep(d, "beside", forged)
	}
	require.NoError(t, d.Flush(t.Context()))
	require.EqualValues(t, 200, e.kept())
	require.Equal(t, map[string]int{"acc": 1800, "beside": 1800}, e.dropped)
}

// stuck is a store that does not answer before it is released, and then fails.
type stuck struct {
	rejected.Store

	entered, leave chan struct{}
	err            error
	kept           []rejected.Sealed
}

func (s *stuck) RejectedKeep(_ context.Context, list []rejected.Sealed) error {
	s.entered <- struct{}{}
	<-s.leave
	if s.err == nil {
		s.kept = append(s.kept, list...)
	}
	return s.err
}

// TestKeepDoesNotWait keeps while the store hangs: deliveries beyond the memory limit of an account are dropped, and queued
// deliveries are stored once the store is back.
func TestKeepDoesNotWait(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	store := &stuck{entered: make(chan struct{}), leave: make(chan struct{}), err: payment.ErrUnavailable}
	d := rejected.New(rejected.Options{
		Store: store, Box: box(t), Accounts: current.Of(account(t, "wrong")), Take: e.take, Dropped: e.count(e.dropped), Recovered: e.count(e.recovered), Now: e.clock,
	})
	large := e.delivery("evt_1", "right", 0)
	large.Body = make([]byte, 1<<20-1<<12)
	flushed := make(chan error)
	keep(d, "acc", large)
	go func() { flushed <- d.Flush(context.WithoutCancel(t.Context())) }()
	<-store.entered
	for range 5 {
		keep(d, "acc", large)
	}
	require.Equal(t, 4, e.dropped["acc"], "a network has half of the room")
	large.RemoteAddr = netip.MustParseAddr("198.51.100.1")
	for range 5 {
		keep(d, "acc", large)
	}
	require.Equal(t, 8, e.dropped["acc"], "2 MiB wait")
	store.leave <- struct{}{}
	require.ErrorIs(t, <-flushed, payment.ErrUnavailable)
	require.Equal(t, 9, e.dropped["acc"], "what could not be stored waits again, before the others")

	store.err = nil
	go func() { flushed <- d.Flush(context.WithoutCancel(t.Context())) }()
	<-store.entered
	store.leave <- struct{}{}
	require.NoError(t, <-flushed)
	require.Len(t, store.kept, 2)
	require.NotEqual(t, uuid.Nil, store.kept[0].ID)
	require.NotContains(t, string(store.kept[0].Text), "Webhook-Id")
}
