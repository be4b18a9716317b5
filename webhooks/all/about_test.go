package all_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks/all"
)

func TestAboutsAreComplete(t *testing.T) {
	t.Parallel()
	kinds := all.Kinds()
	for i, about := range all.Abouts() {
		require.Equal(t, kinds[i], about.Kind)
		form := about.Reference
		facts := []string{about.Name, about.Header, about.EventID, about.Ack, about.RetryHorizon, about.Methods, about.Reviews, form.Field + form.MetadataKey, form.Doc}
		require.NotEmpty(t, about.Setup, about.Kind)
		for _, text := range slices.Concat(facts, about.Quirks, about.Setup) {
			require.NotEmpty(t, text, about.Kind)
		}
	}
}

// TestReferenceFormsAreTried requires that each provider's own test signs a delivery with the values of its form.
func TestReferenceFormsAreTried(t *testing.T) {
	t.Parallel()
	for _, kind := range all.Kinds() {
		text, err := os.ReadFile(filepath.Join("..", strings.Replace(kind, "sandbox", "standard", 1), "reference_test.go"))
		require.NoError(t, err, kind)
		require.Contains(t, string(text), "providertest.BegunElsewhere(", kind)
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
