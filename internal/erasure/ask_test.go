package erasure_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/erasure"
)

func TestAskRefusesWhatIsNoUser(t *testing.T) {
	t.Parallel()
	require.NoError(t, (&erasure.Ask{User: "ann"}).Validate())
	for _, user := range []string{"", "two words", "cli:root", "paylatch"} {
		require.ErrorContains(t, (&erasure.Ask{User: user}).Validate(), "--user must be", user)
	}
}
