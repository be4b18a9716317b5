package logging_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/platform/logging"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// TestADatabaseThatDoesNotAnswerIsLoggedOnceAMinute: each message once, and all else as often as it comes.
func TestADatabaseThatDoesNotAnswerIsLoggedOnceAMinute(t *testing.T) { //nolint:paralleltest // the clock of the log is one of the process
	var lines bytes.Buffer
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	log := logging.New(config.Log{Level: "info", Format: "json"}, &lines, func() time.Time { return now })
	for range 5 {
		for _, message := range []string{"a loop failed", "waiters look"} {
			log.Error().Err(errors.New("the database " + logging.Unanswered + ": refused")).Msg(message)
		}
		log.Error().Err(errors.New("something else")).Msg("a loop failed")
		log.Info().Msg("a customer " + logging.Unanswered)
	}
	require.Equal(t, 2+5+5, strings.Count(lines.String(), "\n"))
	now = now.Add(time.Minute)
	log.Error().Err(errors.New("the database " + logging.Unanswered + ": refused")).Msg("a loop failed")
	require.Equal(t, 2+5+5+1, strings.Count(lines.String(), "\n"))
}

// TestLogHidesAPIKeys: an API key in a message, a field or an error, whole or cut, but not its first characters.
func TestLogHidesAPIKeys(t *testing.T) { //nolint:paralleltest // as above
	var lines bytes.Buffer
	log := logging.New(config.Log{Level: "info", Format: "json"}, &lines, time.Now)
	text, prefix, _ := authz.NewKeyText()
	log.Info().Str("request_id", text).Err(errors.New("no " + text + " here")).Msg("key " + text[:20] + " of " + prefix)
	require.NotContains(t, lines.String(), text[:11])
	require.Equal(t, 3, strings.Count(lines.String(), "plk_***"))
	require.Contains(t, lines.String(), "of "+prefix)
	var line map[string]any
	require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
}
