package pool_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// statements are more than are tried one after the other.
func statements() []string {
	const one = "SELECT v FROM versions WHERE id = $1"
	return []string{one, one + " LIMIT 4", one + " LIMIT 5", one + " LIMIT 1", one + " LIMIT 2", one + " LIMIT 3"}
}

// newer are the versions of a table that others bring about.
type newer struct{ conn *pgx.Conn }

func (n newer) change(t *testing.T, to string) {
	t.Helper()
	_, err := n.conn.Exec(t.Context(), "ALTER TABLE versions ALTER COLUMN v TYPE "+to)
	require.NoError(t, err)
}

// TestAMigrationThatChangesTypes changes the result types of prepared statements, below all connections of a pool. The
// next use, in any way, returns no error.
func TestAMigrationThatChangesTypes(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	n := newer{testdb.Connect(t, url)}
	_, err := n.conn.Exec(t.Context(), "CREATE TABLE versions (id int, v varchar(9)); INSERT INTO versions VALUES (1, '7'); GRANT ALL ON versions TO public")
	require.NoError(t, err)
	p := open(t, testdb.With(t, url, "pool_max_conns", "4"))
	for name, selected := range map[string]func() error{
		"a read": func() error {
			return p.Read(t.Context(), func(ctx context.Context, c *pgxpool.Conn) error { return selectVersion(ctx, c) })
		},
		"a snapshot": func() error {
			return p.Snapshot(t.Context(), func(ctx context.Context, tx pgx.Tx) error { return selectVersion(ctx, tx) })
		},
		"once":          func() error { return p.Once(t.Context(), inOne) },
		"a transaction": func() error { return p.InTx(t.Context(), inOne) },
		"a search":      func() error { return p.OnceBehind(t.Context(), inOne) },
		"a write that is sent later": func() error {
			return p.InTx(t.Context(), func(ctx context.Context, tx *pipeline.Tx) error {
				_, err := tx.Deferred().Exec(ctx, statements()[0], 1)
				return err
			})
		},
	} {
		n.change(t, "varchar(9)")
		prepared(t, p)
		n.change(t, "text")
		require.NoError(t, selected(), name)
	}
}

// prepared prepares the statement on all connections of the pool at once.
func prepared(t *testing.T, p *pool.Pool) {
	t.Helper()
	for range p.Conns().Config().MaxConns {
		c, err := p.Conns().Acquire(t.Context())
		require.NoError(t, err)
		defer c.Release()
		require.NoError(t, c.Conn().DeallocateAll(t.Context()))
		require.NoError(t, selectVersion(t.Context(), c))
	}
}

func inOne(ctx context.Context, tx *pipeline.Tx) error { return selectVersion(ctx, tx) }

func selectVersion(ctx context.Context, db pipeline.DB) error {
	for _, statement := range statements() {
		var v string
		if err := db.QueryRow(ctx, statement, 1).Scan(&v); err != nil {
			return err
		}
	}
	return nil
}
