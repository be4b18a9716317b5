package postgres_test

import (
	"time"

	"github.com/paylatch/paylatch/internal/engine"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/postgres"
)

// timing is how long a service lets things take.
type timing struct{ wait, lease, provider, recheck time.Duration }

func newService(store *postgres.Store, p gateway.Provider, d timing) *engine.Engine {
	return engine.New(engine.Options{
		Store: store, DefaultAccount: "acc", Wait: d.wait, ProviderTimeout: d.provider, Now: time.Now,
		Rules: changeset.Rules{
			Accounts: current.Of(map[string]gateway.Account{"acc": {Provider: p}}), Schedule: payment.Schedule{First: d.recheck, Lease: d.lease},
		},
	})
}
