package main

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/engine"
	"github.com/paylatch/paylatch/internal/engine/activity"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/ledger/imports"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/setup/accounts"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// useCases are the use cases on one store, with recorded activity.
type useCases struct {
	activity.Commands
	activity.Inbox
	*runner.Runner

	// close ends the engine.
	close func()
}

// reconciler compares the accounts with their providers' books.
func (r useCases) reconciler(store *postgres.Store) *reconcile.Reconciler {
	return reconcile.New(reconcile.Options{
		Store: store, Payments: r.Runner, Rules: r.Rules, Now: now,
		HoldOf: func(ctx context.Context, account string) (*reconcile.Hold, error) { return holdOf(ctx, store, account) },
		Recall: func(ctx context.Context, p imports.Past) error {
			return imports.Make(ctx, imports.Options{Store: store, Rules: r.Rules, Account: p.Account, Now: now}, p)
		},
	})
}

// holdOf returns the hold of an account, or nil if the account is not held.
func holdOf(ctx context.Context, store *postgres.Store, account string) (*reconcile.Hold, error) {
	holds, err := store.Marks().Holds(ctx)
	for _, h := range holds {
		if h.Account == account {
			return &reconcile.Hold{Account: account, Since: h.Since, Until: h.HeldAt}, nil
		}
	}
	return nil, err
}

// newUseCases wires the use cases. Without notes nothing is recorded, and no command may be executed; without a sealer no
// charge is sent twice. The pays and refunds of accounts that guard holds wait. Each event that has
// become foreign is counted, and so are the items of each shared transaction.
func newUseCases(
	cfg *config.Config, store *postgres.Store, used *accounts.Set, notes *activity.Notes, sealer *auth.Sealer,
	guard *watermark.Guard, counted *metrics.Metrics,
) useCases {
	o := engine.Options{
		Store: store, Readers: used.Readers, Now: now,
		Rules: changeset.Rules{
			Cell: cfg.Cell, Accounts: used.Charged, Held: guard,
			Schedule: payment.Schedule{First: cfg.Reconcile.After, Lease: cfg.Idempotency.Lease},
		},
		DefaultAccount: cfg.DefaultAccount, OrdersBy: ordersBy(cfg), CustomersMay: customersMay(cfg), ReturnSchemes: cfg.Orders.ReturnSchemes, Wait: cfg.Idempotency.Wait,
		Quota:           idempotency.Quota{NewKeys: cfg.Idempotency.Quota.NewKeys, Per: cfg.Idempotency.Quota.Per},
		ProviderTimeout: cfg.ProviderTimeout, StaleAfter: cfg.SilentAfter,
		Prompt: true, Foreign: counted.Foreign, Flushed: counted.Batches,
	}
	if cfg.Database.Pooler == config.TransactionPooler {
		o.LookAgain = func(ctx context.Context) error { return guard.Again(ctx, store.Marks()) }
	}
	if sealer != nil {
		o.Seal, o.Open = sealer.SealText, sealer.OpenText
	}
	e := engine.New(o)
	return useCases{
		Runner: e.Runner, close: e.Close,
		Commands: activity.Commands{Notes: notes, Commands: e.Commands}, Inbox: activity.Inbox{Notes: notes, Inbox: e.Inbox},
	}
}

// worklistOf wires the commands of staff on discrepancies.
func worklistOf(store *postgres.Store, desk *support.Service, r useCases) *worklist.Service {
	return worklist.New(worklist.Options{Store: store.Worklist(), Audit: desk, Payments: r, Now: now})
}

// settlerOf wires the settler, which closes discrepancies that need no decision any more.
func settlerOf(store *postgres.Store, log zerolog.Logger) *worklist.Settler {
	return worklist.NewSettler(store.Worklist(), store.InCommandTx, func(id payment.DiscrepancyID, err error) {
		log.Error().Err(err).Stringer("discrepancy", id).Msg("paylatch could not check a discrepancy, so it stays open for now")
	})
}

// jobsOf wires the runner of staff's bulk jobs on events or discrepancies.
func jobsOf(cfg *config.Config, store *postgres.Store, r useCases, log zerolog.Logger) *bulk.Runner {
	return bulk.NewRunner(bulk.RunnerOptions{Queue: store.Jobs().Queue(), Payments: r, Call: cfg.ProviderTimeout, Code: render.CodeOf, Log: func(j bulk.Job, id uuid.UUID, err error) {
		log.Error().Err(err).Stringer("job", j.ID).Stringer("id", id).Msg("an item of a bulk job failed; the job continues")
	}})
}

// ordersBy returns the roles that may create orders.
func ordersBy(cfg *config.Config) []payment.Role {
	roles := make([]payment.Role, 0, len(cfg.Orders.CreatedBy))
	for _, role := range cfg.Orders.CreatedBy {
		roles = append(roles, payment.Role(role))
	}
	return roles
}

// customersMay returns the rights that the configuration gives to customers.
func customersMay(cfg *config.Config) []authz.Right {
	var rights []authz.Right
	if slices.Contains(cfg.Orders.CreatedBy, string(payment.RoleCustomer)) {
		rights = append(rights, authz.CreateOrder)
	}
	for _, right := range cfg.Orders.CustomersMay {
		rights = append(rights, authz.Right(right))
	}
	return rights
}
