package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

func sessionOpen(t *testing.T, url string) *postgres.SessionStore {
	t.Helper()
	p, err := pool.Open(t.Context(), testdb.Patient(url))
	require.NoError(t, err)
	p.Patiently(testdb.Patience)
	t.Cleanup(p.Close)
	return postgres.NewSessionStore(p)
}
