package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/setup/accounts"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// watched returns the guard that looks at each connection of a store, so that a restored database is noticed. It must be
// called before the store is used.
func watched(cfg *config.Config, store *postgres.Store, role string, log zerolog.Logger) (*watermark.Guard, error) {
	guard, err := watermark.New(watermark.Options{
		Dir: cfg.DataDir, Name: processName(role), Boot: boot(), Accounts: accounts.Begun(cfg), Live: cfg.Environment == config.Live, Now: now,
		Events: watermark.Events{
			Changed: func(reason watermark.Reason) {
				log.Warn().Str("reason", string(reason)).Msg("the database server is another one or has crashed: payments and refunds wait until each process has found its last commits there")
			},
			Unharmed: func() {
				log.Info().Msg("the database server has lost nothing: each process has found its last commits, and payments continue")
			},
			Alarm: func(reason watermark.Reason, since time.Time, why string) {
				log.Error().Str("reason", string(reason)).Time("since", since).Str("why", why).
					Msg("the database may have lost payments, because it was restored, another server has taken over, or the server has crashed. Payments and refunds wait until each account is reconciled")
			},
		},
	})
	if err != nil {
		return nil, err
	}
	store.Marks().Watch(guard)
	store.OnAcknowledged(guard.Acknowledged)
	return guard, nil
}

// processName names this process for the logs of the others.
func processName(role string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s (%s, process %d)", host, role, os.Getpid())
}

// boot distinguishes the runs of this machine; it is empty where the machine does not tell.
func boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// auditMark keeps the head of a database's audit log in a directory of this machine, out of reach of the database's owner.
type auditMark struct {
	dir   string
	store *postgres.Store
}

// KnownHead implements worker.AuditMark. It ignores a head that was kept of another database.
func (m auditMark) KnownHead(ctx context.Context) (support.Head, error) {
	head, _, err := m.find(ctx)
	return head, err
}

// find is KnownHead. If it finds no head, it returns the reason.
func (m auditMark) find(ctx context.Context) (head support.Head, missing string, err error) {
	kept, err := watermark.ReadAuditHead(m.dir)
	if err != nil || kept.Head == "" {
		return support.Head{}, "does not exist", err
	}
	mark, err := m.store.Marks().ReadMark(ctx, uuid.Nil)
	if err != nil || kept.Database != mark.Database {
		return support.Head{}, "has the head of another database", err
	}
	if head, err = support.ParseHead(kept.Head); err != nil {
		return support.Head{}, "", fmt.Errorf("the last known head of the audit log in %s: %w", m.dir, err)
	}
	return head, "", nil
}

// KeepHead implements worker.AuditMark.
func (m auditMark) KeepHead(ctx context.Context, h support.Head) error {
	mark, err := m.store.Marks().ReadMark(ctx, uuid.Nil)
	if err != nil {
		return err
	}
	return watermark.WriteAuditHead(m.dir, watermark.AuditHead{Database: mark.Database, Head: h.String()})
}
