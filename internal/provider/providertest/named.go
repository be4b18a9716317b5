package providertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/webhooks"
)

// Named is the ids in a response, a lookup or a webhook: the payment's id, and the id of its container (a page or an
// order) if stated.
type Named struct{ Payment, Container string }

// ByOutcome returns the ids in a response.
func ByOutcome(t *testing.T, o gateway.Outcome, err error) Named {
	t.Helper()
	require.NoError(t, err)
	require.False(t, o.Refused)
	return Named{o.ProviderPaymentID, o.Container}
}

// ByEvents returns the ids in the only event of a webhook.
func ByEvents(t *testing.T, events []webhooks.Event, err error) Named {
	t.Helper()
	require.NoError(t, err)
	require.Len(t, events, 1)
	return Named{events[0].ProviderPaymentID, events[0].Container}
}

// OnePayment requires that all sources name the payment by the same id, and name this container or no container.
func OnePayment(t *testing.T, want Named, sources map[string]Named) {
	t.Helper()
	require.NotEmpty(t, want.Payment)
	for source, got := range sources {
		require.Equal(t, want.Payment, got.Payment, source)
		require.Contains(t, []string{"", want.Container}, got.Container, source)
	}
}
