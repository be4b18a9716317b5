package accounts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/internal/api/delivery"
	"github.com/paylatch/paylatch/internal/certificates"
	"github.com/paylatch/paylatch/internal/config"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/descriptor"
	"github.com/paylatch/paylatch/internal/schedule"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

// Build builds from the configured accounts those that charge and those that receive
// webhooks.
func Build(cfg *config.Config, client *http.Client, w Watch) (map[string]gateway.Account, map[string]delivery.Account, error) {
	charged := make(map[string]gateway.Account, len(cfg.Accounts))
	receiving := make(map[string]delivery.Account, len(cfg.Accounts))
	fetched := certificates.New(client, w.Now)
	for _, a := range cfg.Accounts {
		out := gateway.Account{
			Offered: a.Offered, AutoRefund: a.LateSuccess == "auto_refund", Live: a.Live(), Hears: a.TakesWebhooks(), Lives: schedule.Lives(a.Expiry),
			Foreign: gateway.Foreign{After: a.ForeignAfter, Review: a.ReviewsForeign()},
		}
		if a.CanCharge() {
			kept, err := provider.NewRecords(a.Kind, settings(a, client, w.Now))
			if err != nil {
				return nil, nil, fmt.Errorf("account %s: %w", a.Name, err)
			}
			out.Books, out.Events, out.Statement, out.BooksLag = kept.Books, kept.Events, kept.Statement, kept.Lag
			p, err := Provider(a, client, w.Now)
			if err != nil {
				return nil, nil, err
			}
			if p != nil {
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

// Provider is the bare adapter of an account; nil for a kind without one.
func Provider(a config.Account, client *http.Client, now func() time.Time) (gateway.Provider, error) {
	p, err := provider.New(a.Kind, settings(a, client, now))
	if errors.Is(err, provider.ErrNoAdapter) {
		return nil, nil //nolint:nilnil // some kinds have none
	}
	if err != nil {
		return nil, fmt.Errorf("account %s: %w", a.Name, err)
	}
	return p, nil
}

func settings(a config.Account, client *http.Client, now func() time.Time) descriptor.Settings {
	return descriptor.Settings{BaseURL: a.BaseURL, Params: a.Credentials(), Client: client, Now: now}
}

// References returns what the provider of an account is given as the name of a payment that is begun elsewhere.
func References(cfg *config.Config) func(account, attempt string) (string, map[string]string) {
	forms := make(map[string]webhooks.ReferenceForm, len(cfg.Accounts))
	for _, a := range cfg.Accounts {
		forms[a.Name] = all.Reference(a.Kind)
	}
	return func(account, attempt string) (string, map[string]string) { return forms[account].For(attempt) }
}

// Readers are the verifiers that can read what is stored again, by account.
func Readers(receiving map[string]delivery.Account) map[string]webhooks.Reader {
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
