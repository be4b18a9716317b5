package all_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

var update = flag.Bool("update", false, "write docs/reference/providers")

const (
	manual     = "../../docs/reference/providers"
	manualFrom = "<!-- webhooks:begin -->\n"
	manualTo   = "<!-- webhooks:end -->\n"
)

// TestManualSaysWhatTheCodeDoes keeps the pages of docs/reference/providers equal to the verifiers' descriptions.
func TestManualSaysWhatTheCodeDoes(t *testing.T) {
	t.Parallel()
	for name, want := range described() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := filepath.Join(manual, name+".md")
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			head, rest, ok := strings.Cut(string(text), manualFrom)
			require.True(t, ok, "the marker is gone")
			_, tail, ok := strings.Cut(rest, manualTo)
			require.True(t, ok, "the marker is gone")
			want := head + manualFrom + want + manualTo + tail
			if *update {
				require.NoError(t, os.WriteFile(page, []byte(want), 0o600))
				return
			}
			require.Empty(t, firstDifference(want, string(text)), "run with -update")
		})
	}
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

// described returns the part of each page about webhooks. Kinds with one verifier share the page of the last of them.
func described() map[string]string {
	pages, kinds := map[string]string{}, map[string][]string{}
	for _, a := range all.Abouts() {
		kinds[a.Name] = append(kinds[a.Name], a.Kind)
	}
	for _, a := range all.Abouts() {
		if last := kinds[a.Name][len(kinds[a.Name])-1]; last == a.Kind {
			pages[a.Kind] = description(a, kinds[a.Name])
		}
	}
	return pages
}

func description(a webhooks.About, kinds []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| | |\n|---|---|\n| kind | `%s` |\n", strings.Join(kinds, "`, `"))
	fmt.Fprintf(&b, "| proof | %s |\n| event id | %s |\n| acknowledgement | %s |\n| repeated by the provider | %s |\n| events of stored methods | %s |\n| reviews | %s |\n\n### Setup\n\n",
		cell(a.Header), cell(a.EventID), cell(a.Ack), cell(a.RetryHorizon), cell(a.Methods), cell(a.Reviews))
	for i, step := range a.Setup {
		fmt.Fprintf(&b, "%d. %s\n", i+1, step)
	}
	fmt.Fprintf(&b, "\n### Payments begun elsewhere\n\nGive the attempt's id as %s. %s\n", given(a.Reference), a.Reference.Doc)
	if len(a.Quirks) > 0 {
		b.WriteString("\n### Notes\n\n")
	}
	for _, q := range a.Quirks {
		fmt.Fprintf(&b, "- %s\n", q)
	}
	return b.String()
}

// given returns the members of a provider's request that carry the id of an attempt.
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
