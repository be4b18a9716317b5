package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// binary is the program under test, as a user has it.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "paylatch-test-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "paylatch")
	args := []string{"build", "-pgo=off", "-ldflags", "-X main.version=v1.2.3", "-o", binary, "."}
	if out, err := exec.CommandContext(context.Background(), "go", args...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s\n", out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// command prepares the binary in a directory of its own, with no other
// configuration than environ.
func command(t *testing.T, environ []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir = t.TempDir()
	clean := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PAYLATCH_") })
	cmd.Env = append(clean, environ...)
	return cmd
}

// run runs the binary to its end.
func run(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := command(t, environ, args...)
	return finish(t, cmd)
}

func finish(t *testing.T, cmd *exec.Cmd) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		require.NoError(t, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args   []string
		code   int
		output string
	}{
		"version":         {[]string{"--version"}, 0, "v1.2.3"},
		"help":            {[]string{"--help"}, 0, "healthcheck"},
		"help of command": {[]string{"token", "--help"}, 0, "--config=FILE"},
		"no command":      {nil, 2, "expected one of"},
		"unknown command": {[]string{"pay"}, 2, "unexpected argument pay"},
		"unknown flag":    {[]string{"token", "--nope"}, 2, "--nope"},
		"half a command":  {[]string{"migrate"}, 2, "expected one of"},
		"no sub":          {[]string{"token", "--role", "admin"}, 2, "--sub"},
		"unknown role":    {[]string{"token", "--sub", "u", "--role", "root"}, 2, "--role must be one of"},
		"no such file":    {[]string{"migrate", "up", "--config", "none.yaml"}, 2, "none.yaml"},
		"no port":         {[]string{"sandbox", "--listen", "nope"}, 2, "--listen: address nope: missing port"},
		"a bad secret":    {[]string{"sandbox", "--webhook-url", "http://x", "--webhook-secret", "abc"}, 2, "webhook secret"},
		"a bad URL":       {[]string{"sandbox", "--webhook-url", "x", "--webhook-secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, 2, "webhook URL"},
		"no place":        {[]string{"dev", "--sandbox-listen", "foo"}, 2, "--sandbox-listen: address foo: missing port"},
		"a named port":    {[]string{"dev", "--sandbox-listen", ":foo"}, 2, "--sandbox-listen: address :foo: the port must be a number up to 65535"},
		"a large port":    {[]string{"sandbox", "--listen", "127.0.0.1:99999"}, 2, "--listen: address 127.0.0.1:99999: the port must be a number"},
		"half a pair":     {[]string{"sandbox", "--webhook-url", "http://x"}, 2, "--webhook-secret"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, nil, tc.args...)
			require.Equal(t, tc.code, code, stderr)
			require.Contains(t, stdout+stderr, tc.output)
		})
	}
}

func TestServeListsValidationErrors(t *testing.T) {
	t.Parallel()
	cmd := command(t, []string{"PAYLATCH_LISTENN=:1"}, "token", "--sub", "u1", "--role", "admin")
	yaml := "auth: {hs256_secret: short}\nprovider_timeout: 30s\nlissten: :1\n"
	require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, "paylatch.yaml"), []byte(yaml), 0o600))
	code, stdout, stderr := finish(t, cmd)
	require.Equal(t, 2, code)
	require.Empty(t, stdout)
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	require.Len(t, lines, 4, stderr)
	require.Equal(t, "PAYLATCH_LISTENN: no such variable; did you mean PAYLATCH_LISTEN?", lines[0])
	require.Equal(t, "lissten: no such key; did you mean listen?", lines[1])
	require.Contains(t, lines[2], "auth.hs256_secret: must be at least 32 bytes")
	require.Contains(t, lines[3], "provider_timeout: must be shorter than idempotency.lease (30s)")
	require.NotContains(t, stderr, "short\n")
}

// The sandbox provider of dev has an account of its own name.
func TestDevRefusesASandboxOfAnotherKind(t *testing.T) {
	t.Parallel()
	cmd := command(t, nil, "dev")
	yaml := "accounts: [{name: a, kind: stripe, api_key: sk}, {name: sandbox, kind: stripe, api_key: sk, webhook_secrets: [whsec_x]}]\ndefault_account: a\n"
	require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, "paylatch.yaml"), []byte(yaml), 0o600))
	code, stdout, stderr := finish(t, cmd)
	require.Equal(t, 2, code, stderr)
	require.Empty(t, stdout)
	require.Equal(t, "accounts[1].name: is that of the sandbox provider's account in dev, which this one is not; choose another\n", stderr)
	require.NoDirExists(t, filepath.Join(cmd.Dir, ".paylatch"))
}

func TestServeAddressInUse(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = taken.Close() })
	code, _, stderr := run(t, []string{
		"PAYLATCH_LISTEN=" + taken.Addr().String(), "PAYLATCH_DATABASE_URL=postgres://u@127.0.0.1:1/none",
		"PAYLATCH_ENVIRONMENT=test", "PAYLATCH_AUTH_HS256_SECRET=0123456789abcdef0123456789abcdef", "PAYLATCH_ENCRYPTION_KEYS=" + encryptionKeys,
		"PAYLATCH_ACCOUNTS=[{name: a, kind: sandbox, base_url: 'http://127.0.0.1:1'}]",
	}, "serve")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "address already in use")
	require.Contains(t, stderr, "PAYLATCH_LISTEN")
}

// TestHelpEverywhere: each command has a description, and is completed with all of its flags.
func TestHelpEverywhere(t *testing.T) {
	t.Parallel()
	code, stdout, _ := run(t, nil, "version")
	require.Zero(t, code)
	require.Equal(t, "v1.2.3\n", stdout)
	code, whole, _ := run(t, nil, "--help")
	require.Zero(t, code)
	code, stdout, _ = run(t, nil, "help")
	require.Zero(t, code)
	require.Equal(t, whole, stdout)
	_, script, _ := run(t, nil, "completion", "bash")
	commands := 0
	for line := range strings.Lines(whole) {
		name, _, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found || !strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "   ") || strings.HasPrefix(name, "-") {
			continue
		}
		commands++
		words := strings.FieldsFunc(strings.TrimSpace(line), func(r rune) bool { return r == ' ' })
		words = words[:slices.IndexFunc(append(words, "<"), func(w string) bool { return strings.ContainsAny(w[:1], "<[-") })]
		code, stdout, stderr := run(t, nil, append(words, "--help")...)
		require.Zero(t, code, "%v: %s", words, stderr)
		require.Contains(t, stdout, "Usage: paylatch "+strings.Join(words, " "))
		code, stdout, _ = run(t, nil, append([]string{"help"}, words...)...)
		require.Zero(t, code, words)
		require.Contains(t, stdout, "Usage: paylatch "+strings.Join(words, " "))
		require.Contains(t, script, `" `+strings.Join(words, " ")+`"`)
	}
	require.Greater(t, commands, 20)
	for _, shell := range []string{"zsh", "fish"} {
		code, stdout, _ := run(t, nil, "completion", shell)
		require.Zero(t, code)
		require.Contains(t, stdout, "migrate")
	}
	typed := exec.CommandContext(t.Context(), "bash", "-c", `eval "$0"; COMP_WORDS=(paylatch --config x migrate gr); COMP_CWORD=4; _paylatch; echo "${COMPREPLY[@]}"; COMP_WORDS=(paylatch migrate grants --dr); COMP_CWORD=3; _paylatch; echo "${COMPREPLY[@]}"`, script)
	out, err := typed.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "grants\n--dry-run\n", string(out))
}

// TestADeadDatabaseIsToldOnce: neither a command nor the service repeats the error.
func TestADeadDatabaseIsToldOnce(t *testing.T) {
	t.Parallel()
	environ := []string{"PAYLATCH_DATABASE_URL=postgres://u@localhost:1/none", "PAYLATCH_ENVIRONMENT=test"}
	for _, args := range [][]string{{"verify"}, {"migrate", "up"}, {"discrepancy", "list"}, {"endpoint", "list"}} {
		code, _, stderr := run(t, environ, args...)
		require.Equal(t, 1, code, "%v", args)
		require.Equal(t, 1, strings.Count(stderr, "\n"), "%v: %s", args, stderr)
		require.Contains(t, stderr, "the database does not answer", "%v", args)
	}
}

// TestAConfigurationThatCantBeRead: the error shows nothing of its content.
func TestAConfigurationThatCantBeRead(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"serve"}, {"doctor"}, {"verify"}} {
		code, _, stderr := run(t, nil, append([]string{"--config", filepath.Join(t.TempDir(), "none.yaml")}, args...)...)
		require.Equal(t, 2, code)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		require.Contains(t, stderr, "none.yaml")
	}
}
