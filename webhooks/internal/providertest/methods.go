package providertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// Stored requires of each body the kind of its one event, with the stored payment method in it, or the review.
func Stored(t *testing.T, v VerifySigner, bodies map[string]string) {
	t.Helper()
	for body, want := range bodies {
		require.Equal(t, want, storedOf(Parsed(t, v, body)), body)
	}
}

func storedOf(e webhooks.Event) string {
	parts := []string{string(e.Kind) + ":"}
	if m := e.Method; m != nil {
		parts = append(parts, strings.Join(m.Tokens, " "), m.Type, m.Display, m.Expires)
		if m.Restored {
			parts = append(parts, "restored")
		}
	}
	if r := e.Review; r != nil {
		parts = append(parts, fmt.Sprintf("review %s %s of %s", r.ID, r.Status, e.ProviderPaymentID))
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}
