package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/setup/config"
)

func TestSecretIsNeverShown(t *testing.T) {
	t.Parallel()
	s := config.Secret("HUSH")
	c := config.Config{DatabaseURL: s, Accounts: []config.Account{{Fields: map[string]config.Secret{"api_key": s}, WebhookSecrets: []config.Secret{s}}}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10s", "%t"} {
		for _, value := range []any{s, &s, c, []config.Secret{s}, map[string]config.Secret{"k": s}} {
			shown := fmt.Sprintf(verb, value)
			require.NotContains(t, shown, "HUSH", "%s of %T", verb, value)
			require.NotContains(t, strings.ToLower(shown), "48555348", "%s of %T", verb, value)
		}
	}
	require.Equal(t, "***", s.String())
	require.Equal(t, "***", s.GoString())
	require.Empty(t, config.Secret("").String())

	b, err := json.Marshal(map[string]any{"a": c, "b": s, "c": &s})
	require.NoError(t, err)
	require.NotContains(t, string(b), "HUSH")

	var out bytes.Buffer
	log := zerolog.New(&out)
	log.Info().Interface("a", c).Stringer("b", s).Any("c", s).Fields(map[string]any{"d": s}).Msgf("%v %d", s, s)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "a", s, "b", c)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "a", s, "b", c)
	require.NotContains(t, out.String(), "HUSH")
	require.Contains(t, out.String(), "***")
}
