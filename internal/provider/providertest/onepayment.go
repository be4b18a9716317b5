package providertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/webhooks"
)

// Paid is a paid payment with the sources that name it.
type Paid struct {
	Provider gateway.Provider
	// Charged is the answer to the charge.
	Charged gateway.Outcome
	// Webhook is the event of its success.
	Webhook webhooks.Event
}

// NamedAlike requires that the charge's answer, the lookups and the webhook name the payment by one id. They must also
// agree on its container, its payee and its mode. The lookups are by the payment's id and by the container's id. The
// charge's answer may name the container alone.
func NamedAlike(t *testing.T, p Paid) {
	t.Helper()
	want := Named{p.Webhook.ProviderPaymentID, p.Charged.Container}
	require.NotEmpty(t, lookedUp(p.Charged), "the answer to the charge names what it began")
	require.Contains(t, []string{"", want.Payment}, p.Charged.ProviderPaymentID, "the answer to the charge")
	sources := map[string]Named{"webhook": {p.Webhook.ProviderPaymentID, p.Webhook.Container}}
	for source, id := range map[string]string{"lookup": want.Payment, "lookup by the container": want.Container} {
		if id == "" {
			continue
		}
		o, err := p.Provider.Lookup(t.Context(), id)
		sources[source] = ByOutcome(t, o, err)
		p.agrees(t, o)
	}
	OnePayment(t, want, sources)
	if want.Container != "" {
		require.NotEqual(t, want.Payment, want.Container, "a container is no payment")
		require.Equal(t, want.Container, sources["lookup by the container"].Container)
		require.Contains(t, p.Charged.References, want.Container, "an attempt is found by its container")
	}
}

// agrees requires that a lookup states the same payee and the same mode as the webhook, or no payee and no mode.
func (p Paid) agrees(t *testing.T, o gateway.Outcome) {
	t.Helper()
	if p.Webhook.Payee != "" && o.Payee != "" {
		require.Equal(t, p.Webhook.Payee, o.Payee)
	}
	if p.Webhook.Mode != "" && o.Live != nil {
		require.Equal(t, p.Webhook.Mode == webhooks.ModeLive, *o.Live)
	}
}
