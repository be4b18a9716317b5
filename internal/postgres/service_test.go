package postgres_test

import (
	"time"

	"github.com/paylatch/paylatch/internal/changeset"
	"github.com/paylatch/paylatch/internal/commands"
	"github.com/paylatch/paylatch/internal/current"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/intake"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/runner"
	"github.com/paylatch/paylatch/internal/schedule"
)

// service is what works on a store, wired as the program does.
type service struct {
	*commands.Commands
	*intake.Inbox
	*runner.Runner
}

// timing is how long a service lets things take.
type timing struct{ wait, lease, provider, recheck time.Duration }

func newService(store *postgres.Store, p gateway.Provider, d timing) *service {
	rules := changeset.Rules{
		Accounts: current.Of(map[string]gateway.Account{"acc": {Provider: p}}), Schedule: schedule.Schedule{First: d.recheck, Lease: d.lease},
	}
	r := runner.New(runner.Options{Store: store, Rules: rules, ProviderTimeout: d.provider, Now: time.Now})
	return &service{
		Commands: commands.New(commands.Options{Store: store, Runner: r, DefaultAccount: "acc", Wait: d.wait}),
		Inbox:    intake.New(intake.Options{Store: store, Rules: rules, ProviderTimeout: d.provider, Now: time.Now}),
		Runner:   r,
	}
}
