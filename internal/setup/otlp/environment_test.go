package otlp_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/tracing"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// TestEnvironment: traces are off unless the configuration or the standard variables name a collector.
func TestEnvironment(t *testing.T) {
	r := newReceiver(t)
	const endpoint, all = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"
	for name, tt := range map[string]struct {
		configured string
		environ    map[string]string
		on         bool
	}{
		"nothing":                 {"", nil, false},
		"configured":              {r.URL, nil, true},
		"an endpoint for all":     {"", map[string]string{all: r.URL}, true},
		"an endpoint for traces":  {"", map[string]string{endpoint: r.URL + "/v1/traces"}, true},
		"another protocol":        {"", map[string]string{all: r.URL, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false},
		"no exporter":             {"", map[string]string{all: r.URL, "OTEL_TRACES_EXPORTER": "none"}, false},
		"disabled":                {r.URL, map[string]string{"OTEL_SDK_DISABLED": "true"}, false},
		"the configuration first": {r.URL, map[string]string{all: "http://127.0.0.1:1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, name := range []string{endpoint, all, "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_TRACES_EXPORTER", "OTEL_SDK_DISABLED"} {
				t.Setenv(name, tt.environ[name])
			}
			before := len(r.spans)
			ctx, stop := begin(t, config.Tracing{Endpoint: tt.configured, Sample: 1}, io.Discard)
			require.Equal(t, tt.on, tracing.On(ctx))
			_, span := tracing.Begin(ctx, "charge", tracing.Client, about())
			span.End("accepted", false)
			stop()
			require.Equal(t, tt.on, len(r.spans) > before)
		})
	}
}
