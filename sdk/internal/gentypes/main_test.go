package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api/contract"
)

func TestTypesAreOfTheContract(t *testing.T) {
	t.Parallel()
	d, err := contract.Load(api.Document)
	require.NoError(t, err)
	have, err := os.ReadFile("../../js/src/server/api.ts")
	require.NoError(t, err)
	require.Equal(t, types(d), string(have), "run 'make gen'")
}
