package pool_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// slow are reads that end only when the test ends them.
type slow struct {
	t     *testing.T
	p     *pool.Pool
	begun chan struct{}
	end   chan struct{}
	ended chan error
}

func newSlow(t *testing.T) *slow {
	t.Helper()
	s := &slow{t, open(t, testdb.New(t)), make(chan struct{}, 100), make(chan struct{}), make(chan error, 100)}
	s.p.Turns(time.Second)
	return s
}

// begin begins a read of a reader, as a transaction or without one.
func (s *slow) begin(r authz.Reader, tx bool) {
	ctx := authz.WithReader(s.t.Context(), r)
	held := func() {
		s.begun <- struct{}{}
		<-s.end
	}
	go func() {
		if tx {
			s.ended <- s.p.OnceBehind(ctx, func(context.Context, *pipeline.Tx) error {
				held()
				return nil
			})
			return
		}
		s.ended <- s.p.Aside(ctx, func(context.Context, *pgxpool.Conn) error {
			held()
			return nil
		})
	}()
}

func (s *slow) refused(n int) {
	s.t.Helper()
	for range n {
		require.ErrorIs(s.t, <-s.ended, payment.ErrOverloaded)
	}
}

// TestPool_Aside: any number of slow reads of one reader leave others their shares, and take no connection from
// payments.
func TestPool_Aside(t *testing.T) {
	t.Parallel()
	s := newSlow(t)
	for i := range 12 { // one clerk
		s.begin(authz.Reader{Role: authz.ReadsForStaff, Name: "ann"}, i%2 == 0)
	}
	s.refused(11)
	<-s.begun
	for i := range 12 { // twelve jobs of the shop
		s.begin(authz.Reader{Role: authz.ReadsForService, Name: "job" + strconv.Itoa(i)}, i%2 == 0)
	}
	s.refused(10)
	for range 2 {
		<-s.begun
	}
	s.begin(authz.Reader{Role: authz.ReadsForStaff, Name: "bob"}, true)
	<-s.begun
	for range 2 { // metrics
		s.begin(authz.Reader{}, false)
		<-s.begun
	}
	require.Zero(t, s.p.Usage().Acquired)
	require.NoError(t, write(t, s.p))
	close(s.end)
	for range 6 {
		require.NoError(t, <-s.ended)
	}
	s.begin(authz.Reader{Role: authz.ReadsForStaff, Name: "ann"}, true)
	require.NoError(t, <-s.ended, "what ended gave its place back")
}
