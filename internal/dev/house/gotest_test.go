package house_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGotest runs scripts/gotest with a program in place of go, which has the output and the exit status of one that ran.
func TestGotest(t *testing.T) {
	t.Parallel()
	const again = "; one of them alone: make test PKG="
	for name, tt := range map[string]struct {
		runs   []string
		status int
		counts string
		failed string
		says   string
	}{
		"passed":         {[]string{"good"}, 0, "3 passed, 0 failed, 1 skipped", "", "skipped: ./good TestFine2/b_c: no \"chromium\" here\n"},
		"failed":         {[]string{"bad"}, 1, "2 passed, 3 failed, 0 skipped", "./bad TestWrong/one, ./bad TestAlso" + again + "./bad ARGS='-run ^TestWrong$'", "1 is not 2"},
		"panicked":       {[]string{"panics"}, 1, "0 passed, 1 failed, 0 skipped", "./panics TestA" + again + "./panics ARGS='-run ^TestA$'", "assignment to entry in nil map"},
		"does_not_build": {[]string{"build"}, 1, "0 passed, 1 failed, 0 skipped", "./build (does not build)" + again + "./build", "undefined: undefined"},
		"timed_out":      {[]string{"timeout"}, 1, "0 passed, 1 failed, 0 skipped", "./timeout (timed out in TestSlow/very)" + again + "./timeout ARGS='-run ^TestSlow$'", "test timed out after 1s"},
		"exited":         {[]string{"exits"}, 1, "0 passed, 1 failed, 0 skipped", "./exits (died in TestExit)" + again + "./exits ARGS='-run ^TestExit$'", ""},
		"never_began":    {[]string{"setup"}, 1, "0 passed, 1 failed, 0 skipped", "./setup (died)" + again + "./setup", "there is no PostgreSQL"},
		"an_outer_one":   {[]string{"outer"}, 1, "0 passed, 2 failed, 0 skipped", "./outer TestOuter/in" + again + "./outer ARGS='-run ^TestOuter$'", "runtime.Goexit"},
		"several": {
			[]string{"good", "timeout", "bad"},
			1, "5 passed, 4 failed, 1 skipped",
			"./timeout (timed out in TestSlow/very), ./bad TestWrong/one, ./bad TestAlso" + again + "./timeout ARGS='-run ^TestSlow$'", "",
		},
		"go_itself": {nil, 2, "0 passed, 0 failed, 0 skipped", "go test itself, with status 2; it says why above", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var all []byte
			for _, run := range tt.runs {
				text, err := os.ReadFile(filepath.Join("testdata", "gotest", run+".json"))
				require.NoError(t, err)
				all = append(all, text...)
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, "events"), all, 0o600))
			program := "#!/bin/sh\nif [ \"$1\" = list ]; then echo example.com/m; exit; fi\ncat " + filepath.Join(dir, "events") + "\nexit " + strconv.Itoa(tt.status) + "\n"
			require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(program), 0o700))
			cmd := exec.CommandContext(t.Context(), filepath.Join(root, "scripts", "gotest"), "./...")
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
			out, err := cmd.Output()
			require.Equal(t, tt.status != 0, err != nil)
			require.Equal(t, tt.status, cmd.ProcessState.ExitCode())
			last := "\n" + tt.counts + "\n"
			if tt.failed != "" {
				last += "FAILED: " + tt.failed + "\n"
			}
			require.True(t, strings.HasSuffix("\n"+string(out), last), "%s", out)
			require.Contains(t, string(out), tt.says)
		})
	}
}
