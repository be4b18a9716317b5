package kit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

func TestDeviceOf(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]kit.Device{
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1": {Mobile: true, OS: "iOS", Browser: "Safari"},
		"Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/124.0 YaBrowser/24.4 Mobile Safari/537.36":                 {Mobile: true, OS: "Android", Browser: "Yandex"},
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/124.0 Safari/537.36 Edg/124.0":                   {OS: "Windows", Browser: "Edge"},
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Chrome/124.0 Safari/537.36":                       {OS: "macOS", Browser: "Chrome"},
		"Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0":                                              {OS: "Linux", Browser: "Firefox"},
		"curl/8.5.0": {OS: "Other", Browser: "Other"},
	} {
		got, known := kit.DeviceOf(&gateway.Browser{UserAgent: agent})
		require.True(t, known)
		require.Equal(t, want, got, agent)
	}
	for _, b := range []*gateway.Browser{nil, {}} {
		_, known := kit.DeviceOf(b)
		require.False(t, known)
	}
}
