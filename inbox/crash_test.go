package inbox_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/inbox"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// The message of a process that was killed after it acted and before it committed is acted on
// once, by a delivery that came meanwhile and waited.
func TestOnceAfterAKill(t *testing.T) {
	t.Parallel()
	pool := open(t)
	consumer := exec.CommandContext(t.Context(), os.Args[0])
	consumer.Env = append(os.Environ(), consumerEnv+"="+pool.Config().ConnString())
	stdin, err := consumer.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	stdout, err := consumer.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, consumer.Start())
	said, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "acted\n", said)

	second := make(chan bool)
	go func() {
		done, err := once(t.Context(), pool, "", "m-1")
		if err != nil {
			t.Error(err)
		}
		second <- done
	}()
	testdb.Waiting(t, testdb.Connect(t, pool.Config().ConnString()), 1)
	require.NoError(t, consumer.Process.Kill())
	_ = consumer.Wait()

	require.True(t, <-second)
	require.Equal(t, 1, effects(t, pool))
	done, err := once(t.Context(), pool, "", "m-1")
	require.NoError(t, err)
	require.False(t, done)
	require.Equal(t, 1, effects(t, pool))
}

// A connection that breaks between the effect and the commit takes both with it.
func TestOnceOnABrokenConnection(t *testing.T) {
	t.Parallel()
	pool := open(t)
	require.Error(t, breakIn(t, pool, func(ctx context.Context, tx pgx.Tx, kill func()) error {
		_, err := inbox.Once(ctx, tx, "m-1", func(ctx context.Context) error {
			_, err := tx.Exec(ctx, addOne)
			kill()
			return err
		})
		return err
	}), "while it acts")
	require.Error(t, breakIn(t, pool, func(ctx context.Context, tx pgx.Tx, kill func()) error {
		done, err := inbox.Once(ctx, tx, "m-1", func(ctx context.Context) error {
			_, err := tx.Exec(ctx, addOne)
			return err
		})
		require.True(t, done)
		kill()
		return err
	}), "before the commit")
	require.Zero(t, markers(t, pool))
	require.Zero(t, effects(t, pool))

	done, err := once(t.Context(), pool, "", "m-1")
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, 1, effects(t, pool))
}

// breakIn runs fn in a transaction. fn can end the session of the transaction.
func breakIn(t *testing.T, pool *pgxpool.Pool, fn func(ctx context.Context, tx pgx.Tx, kill func()) error) error {
	t.Helper()
	return pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		pid := tx.Conn().PgConn().PID()
		return fn(t.Context(), tx, func() {
			_, err := pool.Exec(t.Context(), `SELECT pg_terminate_backend($1, 10000)`, pid)
			require.NoError(t, err)
		})
	})
}
