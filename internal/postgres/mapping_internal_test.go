package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

func TestTheParametersOfRowsHaveRoomForAll(t *testing.T) {
	t.Parallel()
	p := newParams[dbsqlc.AttemptsInsertParams](7)
	require.Empty(t, p.OrderIds)
	require.GreaterOrEqual(t, cap(p.OrderIds), 7)
	require.GreaterOrEqual(t, cap(p.Amounts), 7)
}
