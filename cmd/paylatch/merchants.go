package main

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/setup/accounts"
	"github.com/paylatch/paylatch/internal/setup/config"
	"github.com/paylatch/paylatch/internal/setup/doctor"
)

// fingerprints returns the function that makes fingerprints of secrets. Without encryption keys it makes none.
func fingerprints(cfg *config.Config) (func([]byte) []byte, error) {
	if len(cfg.EncryptionKeys) == 0 {
		return func([]byte) []byte { return []byte{} }, nil
	}
	ring, err := auth.Keys(cfg)
	if err != nil {
		return nil, err
	}
	return auth.NewFingerprint(ring)
}

// compareMerchants compares the merchants behind accounts of a new configuration.
func (in *instance) compareMerchants(ctx context.Context, list []config.Account, fingerprint func([]byte) []byte) (owned map[string]accounts.Owned, err error) {
	claims := accounts.Claims(list, provider.NewHTTPClient(), fingerprint, now)
	accounts.Fetch(ctx, claims)
	err = asMistake(in.store.InMerchants(ctx, func(ctx context.Context, m *postgres.Merchants) (err error) {
		owned, err = accounts.Compare(ctx, m, claims, true, now())
		for name, o := range owned {
			if o.Proof != nil {
				return &payment.MerchantError{Text: "accounts: " + name + ": its secrets have changed, and the provider did not confirm their merchant: send SIGHUP again"}
			}
		}
		return err
	}))
	if errors.Is(err, payment.ErrUnavailable) {
		in.log.Warn().Err(err).Msg("the database did not respond")
		err = config.ValidationErrors{"accounts: the database did not respond, so paylatch could not compare the accounts' merchants: send SIGHUP again"}
	}
	return owned, err
}

// ownAs puts the merchants of the database behind the accounts of a command. It refuses a configuration with other merchants than
// the service's.
func ownAs(ctx context.Context, cfg *config.Config, store *postgres.Store, used *accounts.Set) error {
	fingerprint, err := fingerprints(cfg)
	if err != nil {
		return err
	}
	claims := accounts.Claims(cfg.Accounts, provider.NewHTTPClient(), fingerprint, now)
	store.OnMerchants(func(ctx context.Context, m *postgres.Merchants) error {
		owned, err := accounts.Compare(ctx, m, claims, false, now())
		if err == nil {
			used.Own(owned, zerolog.Nop())
		}
		return err
	})
	return asMistake(store.Suits(ctx))
}

// errUndone undoes a comparison that was made to see its result.
var errUndone = errors.New("nothing is stored")

// merchantsCheck compares the merchants behind the accounts as a start does, and writes nothing.
func merchantsCheck(cfg *config.Config, store *postgres.Store, client *http.Client) doctor.Check {
	return doctor.Check{Name: "merchants of the accounts", After: "migrations", Run: func(ctx context.Context) (found []doctor.Finding) {
		fingerprint, err := fingerprints(cfg)
		if err != nil {
			return []doctor.Finding{{Check: "encryption_keys", Problem: err.Error(), Remedy: "correct them"}}
		}
		claims := accounts.Claims(cfg.Accounts, client, fingerprint, now)
		accounts.Fetch(ctx, claims)
		var owned map[string]accounts.Owned
		err = store.InMerchants(ctx, func(ctx context.Context, m *postgres.Merchants) error {
			var err error
			if owned, err = accounts.Compare(ctx, m, claims, true, now()); err == nil {
				err = errUndone
			}
			return err
		})
		if refused := (*payment.MerchantError)(nil); errors.As(err, &refused) {
			for text := range strings.SplitSeq(refused.Text, "\n") {
				found = append(found, doctor.Finding{Check: "accounts", Grave: true, Problem: text, Remedy: "follow the text above; until then paylatch refuses to start"})
			}
			return found
		}
		if !errors.Is(err, errUndone) {
			return nil // the checks of the database find the cause
		}
		for _, name := range slices.Sorted(maps.Keys(owned)) {
			for _, text := range owned[name].Notes() {
				found = append(found, doctor.Finding{Check: "accounts: " + name, Problem: text, Remedy: "see docs/how-to/operate.md, Change the merchant of an account"})
			}
		}
		return found
	}}
}
