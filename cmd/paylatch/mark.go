package main

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/setup/accounts"
	"github.com/paylatch/paylatch/internal/setup/config"
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

// auditMark keeps the head of a database's audit log in a directory of this machine, out of reach of the database's owner.
type auditMark struct {
	dir   string
	store *postgres.Store
}

// KnownHead implements worker.AuditMark. It ignores a head that was kept of another database.
func (m auditMark) KnownHead(ctx context.Context) (support.Head, error) {
	kept, err := watermark.ReadAuditHead(m.dir)
	if err != nil || kept.Head == "" {
		return support.Head{}, err
	}
	mark, _, err := m.store.Marks().ReadMark(ctx)
	if err != nil || kept.Database != mark.Database {
		return support.Head{}, err
	}
	head, err := support.ParseHead(kept.Head)
	if err != nil {
		return support.Head{}, fmt.Errorf("the last known head of the audit log in %s: %w", m.dir, err)
	}
	return head, nil
}

// KeepHead implements worker.AuditMark.
func (m auditMark) KeepHead(ctx context.Context, h support.Head) error {
	mark, _, err := m.store.Marks().ReadMark(ctx)
	if err != nil {
		return err
	}
	return watermark.WriteAuditHead(m.dir, watermark.AuditHead{Database: mark.Database, Head: h.String()})
}
