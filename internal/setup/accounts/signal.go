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
		log.Error().Strs("mistakes", mistakes).Msg("the configuration was not reloaded, because it has errors. The accounts do not change")
		return false
	}
	log.Info().Strs("added", changes.Added).Strs("changed", changes.Changed).Msg("the configuration was reloaded. New and changed accounts are in use")
	if len(changes.Restart) > 0 {
		log.Warn().Strs("keys", changes.Restart).Msg("changes of these keys take effect only at the next start. Until then the previous values stay in use, and removed accounts stay in use too")
	}
	return true
}
