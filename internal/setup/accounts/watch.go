package accounts

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// Watch logs and counts the calls to providers.
type Watch struct {
	Log     zerolog.Logger
	Metrics *metrics.Metrics
	Now     func() time.Time
}

// guard limits the calls to the provider of an account as configured.
func (w Watch) guard(a config.Account, p gateway.Provider) gateway.Provider {
	log := w.Log.With().Str("account", a.Name).Logger()
	g := provider.NewGuard(p, provider.Limits{
		Failures: a.Breaker.Failures, OpenFor: a.Breaker.OpenFor, PerSecond: a.RateLimit.PerSecond, Burst: a.RateLimit.Burst,
	}, w.Now, func(c provider.Called) {
		w.Metrics.Called(a.Name, c.Call, c.Result, c.Took)
		if c.Panic != nil {
			log.Error().Err(c.Panic).Str("call", c.Call).Msg("the adapter panicked: the outcome of the call is unknown")
		}
	}, func(state string) {
		log.Warn().Str("breaker", state).Msg("the throttling of the provider has changed: closed means normal calls, open means no calls")
	})
	w.Metrics.Breaker(a.Name, g.State)
	return g
}

// Unwatched is for a command that reports no calls.
func Unwatched(now func() time.Time) Watch {
	return Watch{zerolog.Nop(), metrics.New(metrics.Options{Now: now}), now}
}
