package provider_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
)

var update = flag.Bool("update", false, "write docs/providers.md")

const (
	manual     = "../../docs/providers.md"
	manualFrom = "<!-- carries:begin -->\n"
	manualTo   = "<!-- carries:end -->\n"
)

// TestManualSaysWhatAPayCarries keeps docs/providers.md to what the adapters describe, which their own
// tests compare with their requests.
func TestManualSaysWhatAPayCarries(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(manual)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(text), manualFrom)
	require.True(t, ok, "the marker is gone")
	_, tail, ok := strings.Cut(rest, manualTo)
	require.True(t, ok, "the marker is gone")
	want := head + manualFrom + carries() + manualTo + tail
	if *update {
		require.NoError(t, os.WriteFile(manual, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(text), "run with -update")
}

// carries are the tables of all kinds that can be charged.
func carries() string {
	var b strings.Builder
	adapters := provider.Adapters()
	for _, kind := range slices.Sorted(maps.Keys(adapters)) {
		if a := adapters[kind]; a.New != nil && !a.LookupOnly {
			fmt.Fprintf(&b, "#### `%s`\n\n%s", kind, table(a))
		}
	}
	return b.String()
}

func table(a descriptor.Adapter) string {
	var b strings.Builder
	b.WriteString("| member of the pay | becomes | when |\n|---|---|---|\n")
	for _, m := range a.Carries {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", m.Member, m.As, m.When)
	}
	names := "none"
	if len(a.ProviderData) > 0 {
		names = "`" + strings.Join(a.ProviderData, "`, `") + "`"
	}
	fmt.Fprintf(&b, "\n`provider_data`: %s.", names)
	if a.SecondStep != "" {
		fmt.Fprintf(&b, " `complete` takes %s.", a.SecondStep)
	}
	b.WriteString("\n\n")
	return b.String()
}
