package main_test

import (
	"encoding/json"
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
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
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := l.Addr().String()
	require.NoError(t, l.Close())
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
