package testdb

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TestPatient: an address keeps its own limits and gets the others, in each form.
func TestPatient(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{"postgres://u@h:1/d?search_path=a%20b&lock_timeout=50ms", "postgres://u@h:1/d?lock_timeout=50ms", "host=h user=u dbname=d lock_timeout=50ms"} {
		c, err := pgx.ParseConfig(Patient(dsn))
		require.NoError(t, err)
		require.Equal(t, 2*time.Minute, c.ConnectTimeout)
		require.Equal(t, "50ms", c.RuntimeParams["lock_timeout"])
		require.Equal(t, "120s", c.RuntimeParams["statement_timeout"])
		require.Equal(t, "d", c.Database)
	}
	c, err := pgx.ParseConfig(Patient("postgres://u@h:1/d?search_path=a%20b"))
	require.NoError(t, err)
	require.Equal(t, "a b", c.RuntimeParams["search_path"])
	require.Equal(t, "120s", c.RuntimeParams["lock_timeout"])
}
