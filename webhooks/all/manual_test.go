package all_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

var update = flag.Bool("update", false, "write docs/reference/providers.md")

const (
	manual     = "../../docs/reference/providers.md"
	manualFrom = "<!-- webhooks:begin -->\n"
	manualTo   = "<!-- webhooks:end -->\n"
)

// TestManualSaysWhatTheCodeDoes keeps docs/reference/providers.md to what the verifiers say of themselves.
func TestManualSaysWhatTheCodeDoes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(manual)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(text), manualFrom)
	require.True(t, ok, "the marker is gone")
	_, tail, ok := strings.Cut(rest, manualTo)
	require.True(t, ok, "the marker is gone")
	want := head + manualFrom + described() + manualTo + tail
	if *update {
		require.NoError(t, os.WriteFile(manual, []byte(want), 0o600))
		return
	}
	require.Empty(t, firstDifference(want, string(text)), "run with -update")
}

// firstDifference returns the first line of want that text has not in its place.
func firstDifference(want, text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range strings.SplitAfter(want, "\n") {
		if i >= len(lines) || line != lines[i] {
			return fmt.Sprintf("line %d should be %q", i+1, line)
		}
	}
	if want != text {
		return "there are lines too many"
	}
	return ""
}

// described says once what several kinds have in common.
func described() string {
	var abouts []webhooks.About
	kinds := map[string]string{}
	for _, a := range all.Abouts() {
		if kinds[a.Name] != "" {
			kinds[a.Name] += ", `" + a.Kind + "`"
			continue
		}
		kinds[a.Name], abouts = "`"+a.Kind+"`", append(abouts, a)
	}
	var b strings.Builder
	b.WriteString("| provider | kind | proof | event id | answer | sent again |\n|---|---|---|---|---|---|\n")
	for _, a := range abouts {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", cell(a.Name), kinds[a.Name], cell(a.Header), cell(a.EventID), cell(a.Ack),
			cell(a.RetryHorizon))
	}
	for _, a := range abouts {
		fmt.Fprintf(&b, "\n### %s (%s)\n\n", a.Name, kinds[a.Name])
		for i, step := range a.Setup {
			fmt.Fprintf(&b, "%d. %s\n", i+1, step)
		}
		fmt.Fprintf(&b, "\nPayments begun elsewhere: the attempt's id is given as %s. %s\n", given(a.Reference), a.Reference.Doc)
		if len(a.Quirks) > 0 {
			b.WriteString("\nWorth knowing:\n\n")
		}
		for _, q := range a.Quirks {
			fmt.Fprintf(&b, "- %s\n", q)
		}
	}
	return b.String()
}

// given says as what a provider is given the id of an attempt.
func given(f webhooks.ReferenceForm) string {
	var forms []string
	if f.Field != "" {
		forms = append(forms, "`"+f.Field+"` (text)")
	}
	if f.MetadataKey != "" {
		forms = append(forms, "`"+f.MetadataKey+"` (metadata)")
	}
	return strings.Join(forms, " or ")
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
