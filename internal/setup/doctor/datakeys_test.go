package doctor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/setup/doctor"
)

type dataKeys struct {
	closed int
	err    error
}

func (k dataKeys) Closed(context.Context) (int, error) { return k.closed, k.err }

func TestDataKeys(t *testing.T) {
	t.Parallel()
	require.Empty(t, doctor.OfDataKeys(dataKeys{}).Run(t.Context()))
	found := doctor.OfDataKeys(dataKeys{closed: 2}).Run(t.Context())
	require.Len(t, found, 1)
	require.False(t, found[0].Grave)
	require.Contains(t, found[0].Problem, "2 data keys")
	require.True(t, doctor.OfDataKeys(dataKeys{err: errors.New("gone")}).Run(t.Context())[0].Grave)
}
