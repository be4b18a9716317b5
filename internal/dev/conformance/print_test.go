package conformance_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/conformance"
)

func printed(t *testing.T, asJSON bool) (text string, failed int) {
	t.Helper()
	var out bytes.Buffer
	p := conformance.Printer{Out: &out, JSON: asJSON}
	for _, r := range []conformance.Result{
		{Check: "charge", Outcome: conformance.Passed},
		{Check: "same key", Outcome: conformance.Failed, Expected: "one charge", Got: "two\x1b[2J", Remedy: "Keep the key."},
		{Check: "refund", Outcome: conformance.Skipped, Note: "it is not supported"},
	} {
		p.Print(r)
	}
	require.NoError(t, p.Sum())
	return out.String(), p.Failed()
}

func TestPrinter(t *testing.T) {
	t.Parallel()
	text, failed := printed(t, false)
	require.Equal(t, 1, failed)
	require.Equal(t, `ok       charge
failed   same key
         expected: one charge
         got:      two\u{1b}[2J
         to do:    Keep the key.
skipped  refund: it is not supported
3 checks: 1 ok, 1 failed, 1 skipped
`, text)
	text, failed = printed(t, true)
	require.Equal(t, 1, failed)
	require.JSONEq(t, `{"ok":1,"failed":1,"skipped":1,"checks":[{"check":"charge","result":"ok"},
		{"check":"same key","result":"failed","expected":"one charge","got":"two\u001b[2J","to_do":"Keep the key."},
		{"check":"refund","result":"skipped","note":"it is not supported"}]}`, text)
}
