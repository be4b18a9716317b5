package support_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/support"
)

func TestAskRefusesWhatIsNoUser(t *testing.T) {
	t.Parallel()
	require.NoError(t, (&support.Erasure{User: "ann"}).Validate())
	for _, user := range []string{"", "two words", "cli:root", "paylatch"} {
		require.ErrorContains(t, (&support.Erasure{User: user}).Validate(), "--user must be", user)
	}
}
