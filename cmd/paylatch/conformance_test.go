package main_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

const providerKey = "key_of_the_provider"

func TestConformance(t *testing.T) {
	t.Parallel()
	box := start(t, nil, "sandbox", "--listen", "127.0.0.1:0", "--state", filepath.Join(t.TempDir(), "state"), "--api-key", providerKey)
	url := "http://" + box.address
	code, stdout, stderr := run(t, []string{"PROVIDER_API_KEY=" + providerKey}, "conformance", "--url", url)
	require.Zero(t, code, stdout+stderr)
	require.Contains(t, stdout, "ok       wrong credential\n")
	require.Contains(t, stdout, "skipped  webhook again: ")
	require.Contains(t, stdout, " 0 failed, ")
	require.Empty(t, stderr)

	code, stdout, stderr = run(t, nil, "conformance", "--url", url, "--api-key", providerKey+"2", "--json")
	require.Equal(t, 1, code, stderr)
	require.Contains(t, stderr, "checks have failed")
	require.NotContains(t, stdout+stderr, providerKey)
	var sum struct {
		OK      int              `json:"ok"`
		Failed  int              `json:"failed"`
		Skipped int              `json:"skipped"`
		Checks  []map[string]any `json:"checks"`
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &sum), stdout)
	require.Len(t, sum.Checks, sum.OK+sum.Failed+sum.Skipped)
	require.Positive(t, sum.Failed)
	require.Zero(t, box.stop())
}

func TestConformanceUsage(t *testing.T) {
	t.Parallel()
	nobody := testdb.Address(t)
	const url, hook = "http://127.0.0.1:1", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	for name, tc := range map[string]struct {
		args   []string
		code   int
		output string
	}{
		"no address":  {nil, 2, "--url"},
		"no web":      {[]string{"--url", "ftp://x"}, 2, "--url must be an http or https address"},
		"no secret":   {[]string{"--url", url, "--listen", nobody}, 2, "--webhook-secret: "},
		"a bad place": {[]string{"--url", url, "--webhook-secret", hook, "--listen", "nope"}, 2, "--listen: address nope: missing port"},
		"unreachable": {[]string{"--url", "http://" + nobody}, 1, "the provider can't be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, nil, append([]string{"conformance"}, tc.args...)...)
			require.Equal(t, tc.code, code, stderr)
			require.Empty(t, stdout)
			require.Contains(t, stderr, tc.output)
		})
	}
}

const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// boxAccount starts a sandbox that sends webhooks to a listen address, and returns the configuration of an account at it.
func boxAccount(t *testing.T, listen string) (box background, environ []string) {
	t.Helper()
	box = start(t, nil, "sandbox", "--listen", "127.0.0.1:0", "--state", filepath.Join(t.TempDir(), "state"), "--api-key", providerKey,
		"--webhook-url", "http://"+listen+"/webhooks/box", "--webhook-secret", hookSecret)
	return box, []string{
		"PAYLATCH_ENVIRONMENT=test", "PAYLATCH_LISTEN=" + listen,
		`PAYLATCH_ACCOUNTS=[{"name":"box","kind":"sandbox","base_url":"http://` + box.address + `","api_key":"` + providerKey + `","webhook_secrets":["` + hookSecret + `"]}]`,
	}
}

var pageAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\S+`)

// TestConformanceOfAnAccount runs every case against the sandbox: its webhooks come, and its page is confirmed as by a person.
func TestConformanceOfAnAccount(t *testing.T) {
	t.Parallel()
	box, environ := boxAccount(t, testdb.Address(t))
	out := filepath.Join(t.TempDir(), "report")
	cmd := command(t, environ, "conformance", "--account", "box", "--webhook-wait", "5m", "--out", out)
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var errs strings.Builder
	cmd.Stderr = &errs
	require.NoError(t, cmd.Start())
	person := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // the shop is nowhere
	var lines strings.Builder
	for scanner := bufio.NewScanner(pipe); scanner.Scan(); {
		lines.WriteString(scanner.Text() + "\n")
		if page := pageAddress.FindString(scanner.Text()); page != "" {
			resp, err := person.PostForm(page, url.Values{"decision": {"approve"}})
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
		}
	}
	require.NoError(t, cmd.Wait(), "%s%s", lines.String(), errs.String())
	require.Contains(t, lines.String(), "14 cases: 14 held, 0 failed, 0 skipped, 0 not offered\n", lines.String())
	for _, name := range []string{"conformance.html", "conformance.json"} {
		text, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		require.Contains(t, string(text), "refund of a part")
		for _, secret := range []string{providerKey, hookSecret, strings.TrimPrefix(hookSecret, "whsec_"), "/pay/", "tok_"} {
			require.NotContains(t, string(text), secret, name)
		}
	}
	require.NotContains(t, lines.String()+errs.String(), providerKey)
	require.Zero(t, box.stop())
}

// TestConformanceOfAnAccountStopped: an interrupt while a person should be at a page ends the run, cleans up and keeps the report.
func TestConformanceOfAnAccountStopped(t *testing.T) {
	t.Parallel()
	_, environ := boxAccount(t, testdb.Address(t))
	out := t.TempDir()
	cmd := command(t, environ, "conformance", "--account", "box", "--out", out, "--json")
	pipe, err := cmd.StderrPipe() // the lines for a person
	require.NoError(t, err)
	var stdout strings.Builder
	cmd.Stdout = &stdout
	require.NoError(t, cmd.Start())
	var lines strings.Builder
	for scanner := bufio.NewScanner(pipe); scanner.Scan(); {
		lines.WriteString(scanner.Text() + "\n")
		if pageAddress.MatchString(scanner.Text()) {
			require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
		}
	}
	require.Error(t, cmd.Wait())
	require.Equal(t, 2, cmd.ProcessState.ExitCode(), lines.String())
	require.Contains(t, lines.String(), "cleaned up")
	var report struct {
		Stopped bool     `json:"stopped"`
		Left    []string `json:"left_behind"`
	}
	require.NoError(t, json.Unmarshal([]byte(stdout.String()), &report))
	require.True(t, report.Stopped)
	require.Empty(t, report.Left)
	_, err = os.Stat(filepath.Join(out, "conformance.json"))
	require.NoError(t, err)
}

func TestConformanceOfAnAccountUsage(t *testing.T) {
	t.Parallel()
	const live = `PAYLATCH_ACCOUNTS=[{"name":"a","kind":"stripe","api_key":"sk_live_51Secret","webhook_secrets":["whsec_1"]},` +
		`{"name":"own","kind":"standard","base_url":"https://pay.example","api_key":"k","webhook_secrets":["` + hookSecret + `"]}]`
	for name, tc := range map[string]struct {
		environment, account, output string
	}{
		"nobody":                    {"test", "b", `--account: "b" is not configured`},
		"a live key":                {"test", "a", "account a: its key has the form of Stripe's live mode"},
		"no sign of test mode":      {"test", "own", "paylatch conformance --url"},
		"a configuration for money": {"live", "a", "environment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, []string{"PAYLATCH_ENVIRONMENT=" + tc.environment, live}, "conformance", "--account", tc.account)
			require.Equal(t, 2, code, stderr)
			require.Empty(t, stdout)
			require.Contains(t, stderr, tc.output)
			require.NotContains(t, stderr, "51Secret")
		})
	}
	code, _, stderr := run(t, nil, "conformance", "--account", "a", "--url", "http://127.0.0.1:1")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--url")
}
