package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/postgres/pool"
	"github.com/paylatch/paylatch/internal/postgres/sessions"
)

func open(t *testing.T, url string) *sessions.Store {
	t.Helper()
	p, err := pool.Open(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return sessions.New(p)
}
