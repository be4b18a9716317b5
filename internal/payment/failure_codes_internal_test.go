package payment

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

var update = flag.Bool("update", false, "write the failure codes into api and docs")

// TestFailureCodes holds the contracts and the documentation to the list of failure codes.
func TestFailureCodes(t *testing.T) {
	t.Parallel()
	var names []string
	for _, c := range failureCodes {
		names = append(names, string(c.code))
		for _, text := range []string{c.payment, c.refund, c.meaning, c.next} {
			require.Regexp(t, `^[A-Z].*\.$`, text, c.code)
		}
	}
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(names))), len(names), "a code is there twice")
	for _, code := range webhooks.FailureCodes() {
		require.Contains(t, names, string(code))
	}
	for path, want := range map[string]string{
		"api/openapi.yaml":                enumOfFailureCodes(names, true),
		"api/events.yaml":                 enumOfFailureCodes(names, false),
		"api/standard-provider.yaml":      codesOfProviders(),
		"docs/reference/failure-codes.md": tableOfFailureCodes(),
	} {
		file := "../../" + path
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		head, rest, ok := strings.Cut(string(text), "failure codes: begin")
		require.True(t, ok, "%s: the marker is gone", path)
		line, rest, _ := strings.Cut(rest, "\n")
		block, tail, ok := strings.Cut(rest, "failure codes: end")
		require.True(t, ok, "%s: the marker is gone", path)
		last := block[strings.LastIndex(block, "\n")+1:] // the indentation, or the opening, of the marker
		written := head + "failure codes: begin" + line + "\n" + want + last + "failure codes: end" + tail
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(written), 0o600))
			continue
		}
		require.Equal(t, want, block[:len(block)-len(last)], "%s: write it with 'go test ./internal/payment -run TestFailureCodes -update', then 'make gen'", path)
	}
}

// enumOfFailureCodes is the schema FailureCode.
func enumOfFailureCodes(names []string, described bool) string {
	const indent = "      "
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, indent+format+"\n", args...) }
	line("type: string")
	line("x-extensible-enum: true")
	line("description: |")
	line("  The reason of a failure. Later versions may add codes: treat a code that you don't know as provider_rejected.")
	if described {
		for _, c := range failureCodes {
			line("  - %s: %s", c.code, c.meaning)
		}
	}
	line("enum:")
	for _, name := range names {
		line("  - %s", name)
	}
	return b.String()
}

// codesOfProviders describes the codes that a provider of the kind standard may report.
func codesOfProviders() string {
	var names []string
	for _, code := range webhooks.FailureCodes() {
		names = append(names, string(code))
	}
	return "          description: " + strings.Join(names, ", ") + ", or the provider's own code.\n"
}

func tableOfFailureCodes() string {
	var b strings.Builder
	b.WriteString("| code | meaning | of a provider | the shop's next step |\n|---|---|---|---|\n")
	for _, c := range failureCodes {
		reported := ""
		if slices.Contains(webhooks.FailureCodes(), c.code) {
			reported = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.code, c.meaning, reported, c.next)
	}
	return b.String()
}
