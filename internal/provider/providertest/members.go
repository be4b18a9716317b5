package providertest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// RequireMembers requires that a body has members with these JSON values. A member whose value is "" must be absent.
func RequireMembers(tb testing.TB, want map[string]string, got map[string]json.RawMessage) {
	tb.Helper()
	for name, value := range want {
		if value == "" {
			require.NotContains(tb, got, name)
			continue
		}
		require.Contains(tb, got, name)
		require.JSONEq(tb, value, string(got[name]), name)
	}
}
