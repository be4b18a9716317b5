package main

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/accounts"
	"github.com/paylatch/paylatch/internal/config"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/watermark"
)

// watched returns the guard that looks at each connection of a store, so that a restored database is noticed. It must be
// called before the store is used.
func watched(cfg *config.Config, store *postgres.Store, log zerolog.Logger) (*watermark.Guard, error) {
	guard, err := watermark.New(watermark.Options{
		Dir: cfg.DataDir, Accounts: accounts.Begun(cfg), Live: cfg.Environment == config.Live,
		Alarm: func(reason watermark.Reason, since time.Time) {
			log.Error().Str("reason", string(reason)).Time("since", since).
				Msg("the database may have forgotten payments: it was restored, or another server has taken over. Pays and refunds wait until each account is reconciled")
		},
	})
	if err != nil {
		return nil, err
	}
	store.Marks().Watch(guard)
	return guard, nil
}
