package worker

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/support"
)

const (
	auditEvery = time.Minute
	auditBatch = 2000
	// headEvery is how often the head of the audit log is logged.
	headEvery = 24 * time.Hour
)

// AuditLog is what the audit loop needs of the storage.
type AuditLog interface {
	support.ChainStore
	// AuditMayBeChanged names the role of the sessions and reports whether it may change the audit log.
	AuditMayBeChanged(ctx context.Context) (role string, may bool, err error)
}

// Audit follows the chain of the audit log once a day, from the beginning at the start of a process and then only new entries, and logs its
// head: compared with a copy of the program's log elsewhere, it reveals a rewritten audit log. It logs an error where the chain is broken
// and, if warn is set, a warning where the role of the sessions may change the audit log.
func Audit(from AuditLog, warn bool, now func() time.Time, log zerolog.Logger) Loop {
	var chain support.Chain
	var next time.Time
	return Loop{Name: "audit", Every: auditEvery, Do: func(ctx context.Context) (more bool, err error) {
		if now().Before(next) {
			return false, nil
		}
		if more, err = chain.Follow(ctx, from, auditBatch); err != nil || more {
			return more, err
		}
		if warn {
			if err := WarnOfRole(ctx, from, log); err != nil {
				return false, err
			}
		}
		next = now().Add(headEvery)
		if b := chain.Broken; b != nil {
			log.Error().Int64("entry", b.Position).Stringer("entry_id", b.EntryID).Str("cause", b.Text).Msg("the audit log is broken")
			chain.Broken = nil // checked again the next day
			return false, nil
		}
		log.Info().Int64("entries", chain.Entries).Stringer("head", chain.Head).Msg("the head of the audit log")
		return false, nil
	}}
}

// WarnOfRole logs a warning where the role of the sessions may change the audit log.
func WarnOfRole(ctx context.Context, from AuditLog, log zerolog.Logger) error {
	role, may, err := from.AuditMayBeChanged(ctx)
	if err == nil && may {
		log.Warn().Str("role", role).Msg("the database role may change the audit log and all other tables: " +
			"serve with a role of its own, see `paylatch migrate grants` and \"Two roles\" in docs/how-to/operate.md")
	}
	return err
}
