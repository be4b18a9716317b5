package accounts

import (
	"context"
	"errors"
	"os"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/setup/config"
)

// ReloadOn reloads the accounts at each signal until ctx ends. A configuration with errors is refused as a whole: each
// is logged, and the accounts in use stay. It calls done each time.
func (s *Set) ReloadOn(ctx context.Context, signals <-chan os.Signal, load func() (*config.Config, error), done func(taken bool), log zerolog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			done(s.reload(load, log))
		}
	}
}

// reload reports whether the configuration was taken.
func (s *Set) reload(load func() (*config.Config, error), log zerolog.Logger) bool {
	cfg, err := load()
	var changes Changes
	if err == nil {
		changes, err = s.Reload(cfg)
	}
	if err != nil {
		mistakes := config.ValidationErrors{err.Error()}
		errors.As(err, &mistakes)
		log.Error().Strs("mistakes", mistakes).Msg("the configuration was not read again: it has mistakes. The accounts stay as they are")
		return false
	}
	log.Info().Strs("added", changes.Added).Strs("changed", changes.Changed).Msg("the configuration was read again: the accounts are in use as it has them")
	if len(changes.Restart) > 0 {
		log.Warn().Strs("keys", changes.Restart).Msg("what has changed here counts from the next start on")
	}
	return true
}
