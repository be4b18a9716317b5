package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/rehearse"
)

// TestRehearse: `paylatch rehearse` finds one charge for each order of the demo shop. With PAYLATCH_LARGE=1 it runs all courses, which
// takes two minutes.
func TestRehearse(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	text, err := os.ReadFile("../rehearse/testdata/demo.yaml")
	require.NoError(t, err)
	script := filepath.Join(t.TempDir(), "demo.yaml")
	require.NoError(t, os.WriteFile(script, []byte(strings.ReplaceAll(string(text), "http://127.0.0.1:9090", s.sandbox)), 0o600))

	args := []string{"rehearse", "--checkout", s.base + "/demo", "--script", script, "--json"}
	if os.Getenv("PAYLATCH_LARGE") == "" {
		args = append(args, "--courses", "answer lost,repeated")
	}
	p := start(t, t.TempDir(), nil, args...)
	<-p.done
	require.Zero(t, p.cmd.ProcessState.ExitCode(), "%s", p.stdout)
	var got struct {
		OK      int               `json:"ok"`
		Failed  int               `json:"failed"`
		Courses []rehearse.Result `json:"courses"`
	}
	require.NoError(t, json.Unmarshal([]byte(p.stdout.String()), &got))
	require.Zero(t, got.Failed)
	require.Len(t, got.Courses, got.OK)
	require.GreaterOrEqual(t, got.OK, 3)
	for _, r := range got.Courses {
		require.Equal(t, []rehearse.Charge{{Amount: "1999", Currency: "EUR"}}, r.Charges, r.Course)
		require.Equal(t, rehearse.Paid, r.Page, r.Course)
		require.Empty(t, r.Contradiction+r.Note, r.Course)
	}
	require.Empty(t, column[string](t, s.rig, `SELECT kind::text FROM discrepancies`))
}
