package providertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/webhooks"
)

// Named is what a response, a lookup or a webhook names: the payment, and, where it says in which page or order the
// payment is made, that container.
type Named struct{ Payment, Container string }

// ByOutcome is what a response names.
func ByOutcome(t *testing.T, o gateway.Outcome, err error) Named {
	t.Helper()
	require.NoError(t, err)
	require.False(t, o.Refused)
	return Named{o.ProviderPaymentID, o.Container}
}

// ByEvents is what the only event of a webhook names.
func ByEvents(t *testing.T, events []webhooks.Event, err error) Named {
	t.Helper()
	require.NoError(t, err)
	require.Len(t, events, 1)
	return Named{events[0].ProviderPaymentID, events[0].Container}
}

// OnePayment requires that all sources name one payment by the same id, and no other container than this one.
func OnePayment(t *testing.T, want Named, sources map[string]Named) {
	t.Helper()
	require.NotEmpty(t, want.Payment)
	for source, got := range sources {
		require.Equal(t, want.Payment, got.Payment, source)
		require.Contains(t, []string{"", want.Container}, got.Container, source)
	}
}
