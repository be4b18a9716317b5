package worker

import (
	"context"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
)

// booksEvery is how often the loop looks for accounts that are due: a run is daily, and tried again after an hour.
const booksEvery = 5 * time.Minute

// Books reconciles accounts with providers' books.
type Books interface {
	// WithBooks lists the accounts with books that a call can read, and the other accounts.
	WithBooks() (with, without []string)
	// RunDaily reconciles an account if that is due, and reports whether it ran. Only one process runs at a time.
	RunDaily(ctx context.Context, account string, found func(payment.Discrepancy)) (reconcile.Count, bool, error)
}

// ReconcileBooks reconciles each account with its provider's books once a day. It logs the result and passes it to
// counted. The accounts without books are logged once.
func ReconcileBooks(b Books, counted func(account string, entries map[string]int, failed bool), log zerolog.Logger) Loop {
	accounts := newByAccount(func(ctx context.Context, account string) error {
		log := log.With().Str("account", account).Logger()
		n, ran, err := b.RunDaily(ctx, account, func(d payment.Discrepancy) {
			log.Warn().Str("kind", string(d.Kind)).Str("order_id", string(d.OrderID)).Str("about", d.AboutID).Msg("the reconciliation found cases that need a person")
		})
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the next start goes on
		case ran:
			counted(account, n.Results(), err != nil)
		case err != nil:
			counted(account, nil, true)
		}
		if ran && err == nil {
			log.Info().Stringer("counts", n).Msg("reconciled with the provider's books")
		}
		return err
	})
	listed := false
	return Loop{Name: "reconcile books", Every: booksEvery, Rest: accounts.all.Wait, Do: func(ctx context.Context) (bool, error) {
		with, without := b.WithBooks()
		if !listed && len(without) > 0 {
			log.Info().Str("accounts", strings.Join(without, ", ")).Msg("paylatch can't read the books of these accounts by an API: reconcile them by their files, with paylatch reconcile --file")
		}
		listed = true
		accounts.begin(ctx, with)
		return false, accounts.failed()
	}}
}
