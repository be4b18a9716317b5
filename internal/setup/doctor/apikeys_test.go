package doctor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/setup/doctor"
)

type apiKeys struct {
	idle []string
	err  error
}

func (k apiKeys) Idle(context.Context) ([]string, error) { return k.idle, k.err }

func TestAPIKeys(t *testing.T) {
	t.Parallel()
	require.Empty(t, doctor.OfAPIKeys(apiKeys{}).Run(t.Context()))
	found := doctor.OfAPIKeys(apiKeys{idle: []string{"Shop", "Warehouse"}}).Run(t.Context())
	require.Len(t, found, 1)
	require.False(t, found[0].Grave)
	require.Contains(t, found[0].Problem, "Shop, Warehouse")
	require.Len(t, doctor.OfAPIKeys(apiKeys{err: errors.New("gone")}).Run(t.Context()), 1)
}
