package all_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks/all"
)

func TestAboutsAreComplete(t *testing.T) {
	t.Parallel()
	kinds := all.Kinds()
	for i, about := range all.Abouts() {
		require.Equal(t, kinds[i], about.Kind)
		facts := []string{about.Name, about.Header, about.EventID, about.Ack, about.RetryHorizon}
		for _, text := range slices.Concat(facts, about.Quirks, about.Setup[:]) {
			require.NotEmpty(t, text, about.Kind)
		}
	}
}

func ExampleAbouts() {
	for _, about := range all.Abouts() {
		if about.Kind == "stripe" {
			fmt.Println(about.Name, "·", about.EventID)
		}
	}
	// Output: Stripe · native: id (evt_…)
}
