package pool_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// TestPool_OnCommit: each commit is run once, and a rollback is no commit.
func TestPool_OnCommit(t *testing.T) {
	t.Parallel()
	p := open(t, testdb.New(t))
	commits, broken := 0, errors.New("undone")
	p.OnCommit(func(commit func() error) error {
		commits++
		return commit()
	})
	require.NoError(t, write(t, p))
	require.Equal(t, 1, commits)
	require.ErrorIs(t, p.Once(t.Context(), func(context.Context, *pipeline.Tx) error { return broken }), broken)
	require.NoError(t, read(t, p))
	require.Equal(t, 1, commits)
	p.OnCommit(func(func() error) error { return broken })
	require.ErrorIs(t, write(t, p), broken)
}

func TestPool_Usage(t *testing.T) {
	t.Parallel()
	p := open(t, testdb.New(t))
	require.NoError(t, p.Read(t.Context(), func(context.Context, *pgxpool.Conn) error {
		u := p.Usage()
		require.Equal(t, [4]int64{1, 0, 10, 1}, [4]int64{u.Acquired, u.Idle, u.Max, u.Waits})
		require.Positive(t, u.Waited)
		return nil
	}))
	require.EqualValues(t, 1, p.Usage().Idle)
}

// TestPool_Patiently: a caller waits for a connection for longer than the usual limit.
func TestPool_Patiently(t *testing.T) {
	t.Parallel()
	url := testdb.With(t, testdb.New(t), "pool_max_conns", "1", "connect_timeout", "120")
	patient, hurried := open(t, url), usual(t, url)
	waited := make(chan error, 1)
	require.NoError(t, patient.Read(t.Context(), func(context.Context, *pgxpool.Conn) error {
		go func() { waited <- read(t, patient) }()
		require.Eventually(t, func() bool {
			held := false
			_ = hurried.Read(t.Context(), func(context.Context, *pgxpool.Conn) error {
				held = true
				require.ErrorIs(t, read(t, hurried), payment.ErrUnavailable)
				return nil
			})
			return held
		}, testdb.Patience, time.Millisecond)
		return nil
	}))
	require.NoError(t, <-waited)
}
