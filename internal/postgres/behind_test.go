package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/testdb"
	"github.com/paylatch/paylatch/migrations"
)

// A process may have started while nobody could tell it what the schema is.
func TestADatabaseThatIsBehindIsUnavailable(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	admin := connect(t, url)
	newest := func(applied bool) {
		tag, err := admin.Exec(t.Context(), `UPDATE goose_db_version SET is_applied = $1 WHERE version_id = $2`, applied, migrations.Required())
		require.NoError(t, err)
		require.EqualValues(t, 1, tag.RowsAffected())
	}
	newest(false)
	store := open(t, url)
	for range 2 {
		require.ErrorIs(t, read(t, store), payment.ErrUnavailable)
		require.ErrorIs(t, write(t, store), payment.ErrUnavailable)
		require.ErrorIs(t, read(t, store), migrations.ErrBehind)
		require.NoError(t, store.Ping(t.Context()), "it is there")
		require.ErrorIs(t, store.Migrated(t.Context()), migrations.ErrBehind)
	}
	newest(true)
	require.ErrorIs(t, read(t, store), payment.ErrOrderNotFound)
	require.ErrorIs(t, write(t, store), payment.ErrOrderNotFound)
	require.NoError(t, store.Migrated(t.Context()))
}
