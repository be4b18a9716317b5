package worker

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/watermark"
)

// Mark shows that the process lives, raises the mark that shows whether a database was restored, and settles a change of the server.
func Mark(g *watermark.Guard, s watermark.Store) Loop {
	return Loop{Name: "mark", Every: watermark.Beat, Do: func(ctx context.Context) (bool, error) { return false, g.Tick(ctx, s) }}
}

// Holds has the accounts with held pays and refunds.
type Holds interface {
	// Holds lists the holds. Release ends an account's hold if it was made no later than heldUntil.
	Holds(ctx context.Context) ([]watermark.Hold, error)
	Release(ctx context.Context, account, by string, heldUntil time.Time) (bool, error)
}

// Recoverer reconciles held accounts.
type Recoverer interface {
	RunHeld(ctx context.Context, h reconcile.Hold, found func(payment.Discrepancy)) (uuid.UUID, bool, error)
}

// Release reconciles the held accounts, each by itself. It releases an account once the period that the database may
// lack was compared. An account without readable books stays held until a person reconciles it.
func Release(s Holds, r Recoverer, log zerolog.Logger) Loop {
	var mu sync.Mutex
	held := map[string]watermark.Hold{}
	accounts := newByAccount(func(ctx context.Context, account string) error {
		mu.Lock()
		h := held[account]
		mu.Unlock()
		return release(ctx, s, r, h, log.With().Str("account", account).Logger())
	})
	return Loop{Name: "release pays", Every: watermark.Every, Rest: accounts.all.Wait, Do: func(ctx context.Context) (bool, error) {
		holds, err := s.Holds(ctx)
		if err != nil {
			return false, err
		}
		names := make([]string, len(holds))
		mu.Lock()
		for i, h := range holds {
			names[i], held[h.Account] = h.Account, h
		}
		mu.Unlock()
		accounts.begin(ctx, names)
		return false, accounts.failed()
	}}
}

func release(ctx context.Context, s Holds, r Recoverer, h watermark.Hold, log zerolog.Logger) error {
	hold := reconcile.Hold{Account: h.Account, Since: h.Since, Until: h.HeldAt, ByHand: h.Reason == watermark.OtherDatabase}
	run, covered, err := r.RunHeld(ctx, hold, func(d payment.Discrepancy) {
		log.Warn().Str("kind", string(d.Kind)).Str("order_id", string(d.OrderID)).Str("about", d.AboutID).Msg("the restored database had lost a payment or refund")
	})
	if err != nil {
		log.Warn().Err(err).Msg("pays and refunds still wait; compare unreadable books by hand, and record that with paylatch reconcile --compared")
		return nil // it is tried again, and logged above
	}
	if !covered {
		return nil
	}
	if _, err := s.Release(ctx, h.Account, run.String(), h.HeldAt); err != nil {
		return err
	}
	log.Info().Stringer("reconciliation", run).Msg("the account is reconciled; its pays and refunds continue")
	return nil
}
