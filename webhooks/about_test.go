package webhooks_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

func TestAboutsAreComplete(t *testing.T) {
	t.Parallel()
	kinds := webhooks.Kinds()
	for i, about := range webhooks.Abouts() {
		require.Equal(t, kinds[i], about.Kind)
		facts := []string{about.Name, about.Header, about.EventID, about.Ack, about.RetryHorizon}
		for _, text := range slices.Concat(facts, about.Quirks, about.Setup[:]) {
			require.NotEmpty(t, text, about.Kind)
		}
	}
}

func ExampleAbouts() {
	for _, about := range webhooks.Abouts() {
		if about.Kind == "stripe" {
			fmt.Println(about.Name, "·", about.EventID)
		}
	}
	// Output: Stripe · native: id (evt_…)
}
