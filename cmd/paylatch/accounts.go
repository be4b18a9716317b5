package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/api/delivery"
	"github.com/paylatch/paylatch/internal/certificates"
	"github.com/paylatch/paylatch/internal/config"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/metrics"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/internal/schedule"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

// watch logs and counts the calls to providers.
type watch struct {
	log     zerolog.Logger
	metrics *metrics.Metrics
}

// guard limits the calls to the provider of an account as configured.
func (w watch) guard(a config.Account, p gateway.Provider) gateway.Provider {
	log := w.log.With().Str("account", a.Name).Logger()
	g := provider.NewGuard(p, provider.Limits{
		Failures: a.Breaker.Failures, OpenFor: a.Breaker.OpenFor, PerSecond: a.RateLimit.PerSecond, Burst: a.RateLimit.Burst,
	}, time.Now, func(c provider.Called) {
		w.metrics.Called(a.Name, c.Call, c.Result, c.Took)
		if c.Panic != nil {
			log.Error().Err(c.Panic).Str("call", c.Call).Msg("the adapter panicked: the outcome of the call is unknown")
		}
	}, func(state string) {
		log.Warn().Str("breaker", state).Msg("the provider is called differently: closed is as usual, open not at all")
	})
	w.metrics.Breaker(a.Name, g.State)
	return g
}

// accounts builds from the configured accounts those that charge and those that receive
// webhooks.
func accounts(cfg *config.Config, client *http.Client, w watch) (map[string]gateway.Account, map[string]delivery.Account, error) {
	charged := make(map[string]gateway.Account, len(cfg.Accounts))
	receiving := make(map[string]delivery.Account, len(cfg.Accounts))
	fetched := certificates.New(client, time.Now)
	for _, a := range cfg.Accounts {
		out := gateway.Account{
			Offered: a.Offered, AutoRefund: a.LateSuccess == "auto_refund", Live: a.Live(), Hears: a.TakesWebhooks(), Lives: schedule.Lives(a.Expiry),
			Foreign: gateway.Foreign{After: a.ForeignAfter, Review: a.ReviewsForeign()},
		}
		if a.CanCharge() {
			settings := descriptor.Settings{BaseURL: a.BaseURL, Params: a.Credentials(), Client: client, Now: time.Now}
			kept, err := provider.NewRecords(a.Kind, settings)
			if err != nil {
				return nil, nil, fmt.Errorf("account %s: %w", a.Name, err)
			}
			out.Books, out.Events, out.Statement, out.BooksLag = kept.Books, kept.Events, kept.Statement, kept.Lag
			p, err := provider.New(a.Kind, settings)
			if err != nil && !errors.Is(err, provider.ErrNoAdapter) {
				return nil, nil, fmt.Errorf("account %s: %w", a.Name, err)
			}
			if err == nil {
				out.Provider = w.guard(a, p)
			}
		}
		charged[a.Name] = out
		if !a.TakesWebhooks() {
			continue
		}
		v, err := verifier(a, fetched)
		if err != nil {
			return nil, nil, fmt.Errorf("account %s: %w", a.Name, err)
		}
		receiving[a.Name] = delivery.Account{Verifier: v, PublicURL: a.PublicURL, Senders: a.AllowedIPs}
	}
	return charged, receiving, nil
}

// references returns what the provider of an account is given as the name of a payment that is begun elsewhere.
func references(cfg *config.Config) func(account, attempt string) (string, map[string]string) {
	forms := make(map[string]webhooks.ReferenceForm, len(cfg.Accounts))
	for _, a := range cfg.Accounts {
		forms[a.Name] = all.Reference(a.Kind)
	}
	return func(account, attempt string) (string, map[string]string) { return forms[account].For(attempt) }
}

// readers are the verifiers that can read what is stored again, by account.
func readers(receiving map[string]delivery.Account) map[string]webhooks.Reader {
	list := make(map[string]webhooks.Reader, len(receiving))
	for name, account := range receiving {
		if reader, ok := account.Verifier.(webhooks.Reader); ok {
			list[name] = reader
		}
	}
	return list
}

func verifier(a config.Account, fetched *certificates.Store) (webhooks.Verifier, error) {
	c, err := a.Webhooks()
	if err != nil {
		return nil, err
	}
	c.Certificate = func(ctx context.Context, url string) ([]byte, error) { return fetched.Fetch(ctx, a.Name, url) }
	return all.New(a.Kind, c)
}

// ordersBy returns the roles that may create orders.
func ordersBy(cfg *config.Config) []payment.Role {
	roles := make([]payment.Role, 0, len(cfg.Orders.CreatedBy))
	for _, role := range cfg.Orders.CreatedBy {
		roles = append(roles, payment.Role(role))
	}
	return roles
}
