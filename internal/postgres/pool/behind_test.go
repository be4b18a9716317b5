package pool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/migrations"
)

// A process may have started while the schema's version could not be read.
func TestADatabaseThatIsBehindIsUnavailable(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	admin := testdb.Connect(t, url)
	newest := func(applied bool) {
		tag, err := admin.Exec(t.Context(), `UPDATE goose_db_version SET is_applied = $1 WHERE version_id = $2`, applied, migrations.Required())
		require.NoError(t, err)
		require.EqualValues(t, 1, tag.RowsAffected())
	}
	newest(false)
	p := open(t, url)
	for range 2 {
		require.ErrorIs(t, read(t, p), payment.ErrUnavailable)
		require.ErrorIs(t, write(t, p), payment.ErrUnavailable)
		require.ErrorIs(t, read(t, p), migrations.ErrBehind)
		require.NoError(t, p.Ping(t.Context()), "it is there")
		require.ErrorIs(t, p.Migrated(t.Context()), migrations.ErrBehind)
	}
	newest(true)
	require.NoError(t, read(t, p))
	require.NoError(t, write(t, p))
	require.NoError(t, p.Migrated(t.Context()))
}
