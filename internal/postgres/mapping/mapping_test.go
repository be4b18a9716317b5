package mapping_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/mapping"
)

func TestTheParametersOfRowsHaveRoomForAll(t *testing.T) {
	t.Parallel()
	p := mapping.Params[dbsqlc.AttemptsInsertParams](7)
	require.Empty(t, p.OrderIds)
	require.GreaterOrEqual(t, cap(p.OrderIds), 7)
	require.GreaterOrEqual(t, cap(p.Amounts), 7)
}
