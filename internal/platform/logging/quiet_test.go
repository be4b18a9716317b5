package logging_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
