package providertest

import (
	"net/http"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/setup/doctor"
)

// examined tests the doctor's check of a correct account: the provider is called, and there is no problem.
func examined(r *rig) {
	checks := doctor.OfAccounts([]doctor.Account{{
		Name: "test", Absent: r.Absent, New: func(c *http.Client) (gateway.Provider, error) { return r.New(r.T, r.base, c), nil },
	}}, &http.Client{Transport: r.transport}, clock)
	require.Len(r, checks, 1)
	found := checks[0].Run(r.Context())
	if r.can.Blind() {
		require.Len(r, found, 1)
		require.True(r, found[0].Note, "%s", found[0])
		require.Empty(r, r.requests())
		return
	}
	require.Empty(r, found)
	require.NotEmpty(r, r.requests())
}
