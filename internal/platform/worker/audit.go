package worker

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/backoffice/support"
)

const (
	auditEvery = time.Minute
	auditBatch = 2000
	// headEvery is how often the head of the audit log is logged.
	headEvery = 24 * time.Hour
)

// AuditLog is the storage of the audit loop.
type AuditLog interface {
	support.ChainStore
	// AuditMayBeChanged names the role of the sessions and reports whether it may change the audit log.
	AuditMayBeChanged(ctx context.Context) (role string, may bool, err error)
}

// AuditMark keeps the last verified head of the audit log outside of the database.
type AuditMark interface {
	// KnownHead returns the last kept head, zero if this database has no kept head.
	KnownHead(ctx context.Context) (support.Head, error)
	KeepHead(ctx context.Context, h support.Head) error
}

// audit is the state that the audit loop keeps between rounds.
type audit struct {
	from  AuditLog
	mark  AuditMark
	chain support.Chain
	kept  support.Head
	began bool
}

// Audit follows the chain of the audit log, from the beginning at the start of a process and then only new entries. It
// compares the end of the chain with the mark, and then raises the mark: a log that was cut or made again shows. Once a
// day it logs the head, for a comparison with a copy of the program's log elsewhere. It logs an error if the chain is
// broken, at once and each day. If warn is set, it logs a warning if the role of the sessions may change the audit log.
func Audit(from AuditLog, mark AuditMark, warn bool, now func() time.Time, log zerolog.Logger) Loop {
	a := &audit{from: from, mark: mark}
	var next time.Time
	said := false // that it is broken
	return Loop{Name: "audit", Every: auditEvery, Do: func(ctx context.Context) (more bool, err error) {
		if more, err = a.follow(ctx); err != nil || more || now().Before(next) && (said || a.chain.Broken == nil) {
			return more, err
		}
		if warn {
			if err := WarnOfRole(ctx, from, log); err != nil {
				return false, err
			}
		}
		next = now().Add(headEvery)
		if b := a.chain.Broken; b != nil {
			said = true
			log.Error().Int64("entry", b.Position).Stringer("entry_id", b.EntryID).Str("cause", b.Text).Msg("the audit log is broken")
			return false, nil
		}
		log.Info().Int64("entries", a.chain.Entries).Stringer("head", a.chain.Head).Msg("the head of the audit log")
		return false, nil
	}}
}

// follow follows the chain, and raises the mark at its end.
func (a *audit) follow(ctx context.Context) (more bool, err error) {
	if !a.began {
		if a.chain.Known, err = a.mark.KnownHead(ctx); err != nil {
			return false, err
		}
		a.began, a.kept = true, a.chain.Known
	}
	if err := a.chain.Recheck(ctx, a.from); err != nil || a.chain.Broken != nil {
		return false, err
	}
	if more, err = a.chain.Follow(ctx, a.from, auditBatch); err != nil || more || a.chain.Broken != nil || a.chain.Head == a.kept {
		return more, err
	}
	if err := a.mark.KeepHead(ctx, a.chain.Head); err != nil {
		return false, err
	}
	a.kept = a.chain.Head
	return false, nil
}

// WarnOfRole logs a warning where the role of the sessions may change the audit log.
func WarnOfRole(ctx context.Context, from AuditLog, log zerolog.Logger) error {
	role, may, err := from.AuditMayBeChanged(ctx)
	if err == nil && may {
		log.Warn().Str("role", role).Msg("the database role may change the audit log and all other tables: " +
			"serve with a separate role, see `paylatch migrate grants` and \"Two roles\" in docs/how-to/operate.md")
	}
	return err
}
