package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/api/waiting"
	"github.com/paylatch/paylatch/internal/backoffice/apikey"
	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/backoffice/overview"
	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/backoffice/rejected"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/activity"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/internal/platform/server"
	"github.com/paylatch/paylatch/internal/platform/stream"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/platform/worker"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/setup/accounts"
	"github.com/paylatch/paylatch/internal/setup/cells"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// instance is the service, wired, in this place only.
type instance struct {
	cfg *config.Config
	// of is the process, with the other cells.
	of *process
	// role is the role of the process.
	role  string
	log   zerolog.Logger
	store *postgres.Store
	auth  *auth.Authenticator
	// accounts are replaced by how, which reloads the configuration.
	accounts *accounts.Set
	how      serving
	useCases useCases
	books    *reconcile.Reconciler
	today    *overview.Service
	notes    *activity.Notes
	// rejected are the deliveries with a signature that is not right.
	rejected *rejected.Deliveries
	// access writes sign-outs and refusals into the audit log.
	access  *support.AccessLog
	hub     *waiting.Hub
	events  *eventPublisher
	workers *worker.Supervisor
	handler http.Handler
	// operations is nil if handler serves them.
	operations http.Handler
	// guard notices a restored database.
	guard   *watermark.Guard
	metrics *metrics.Metrics
}

// newInstance wires the service of one cell of a process, with the cell's store.
func newInstance(ctx context.Context, cfg *config.Config, of *process, how serving, log zerolog.Logger, refusals *zerolog.Logger) (*instance, error) {
	in := &instance{cfg: cfg, of: of, log: log, how: how, store: of.stores[cfg.Cell]}
	ring, err := auth.Keys(cfg)
	if err != nil {
		return nil, err
	}
	sealer, err := auth.NewSealer(ring)
	if err != nil {
		return nil, err
	}
	in.store.SealWith(sealer, now)
	if in.guard, err = watched(cfg, in.store, how.role, log); err != nil {
		return nil, err
	}
	in.store.OnPromise(in.guard.Confirmed)
	in.auth, err = auth.New(auth.Options{
		HS256: auth.TokenKeys(cfg), Issuers: auth.Issuers(cfg), StaffLife: auth.StaffLife(cfg), Door: auth.SharedDoor(cfg),
		Issuer: cfg.Auth.Issuer, Audience: cfg.Auth.Audience, Keys: ring, APIKeys: in.keys(), Now: now,
		Log: func(err error) {
			log.Warn().Err(err).Msg("the keys can't be fetched from the JWKS address; the previous keys stay in use")
		},
	})
	if err != nil {
		return nil, err
	}
	in.notes = activity.NewNotes(in.store, now)
	in.access = support.NewAccessLog(in.store.Support(), now)
	counted := in.newMetrics()
	in.store.OnCommit(counted.Commit)
	if err := in.openAccounts(ctx, ring, counted); err != nil {
		return nil, err
	}
	in.useCases = newUseCases(cfg, in.store, in.accounts, in.notes, sealer, in.guard, counted)
	in.rejected = rejected.New(rejected.Options{
		Store: in.store.Rejected(), Box: sealer, Accounts: in.accounts.Rejected, Take: in.useCases.Intake,
		Dropped: counted.RejectedDropped, Recovered: counted.RejectedRecovered, Now: now,
	})
	in.books = in.useCases.reconciler(in.store)
	in.hub = waiting.NewHub(in.store.Bus(), in.useCases.Watched, max(1, server.Waiters(cfg.MaxWaiters, func(able, files int) {
		log.Info().Int("max_waiters", cfg.MaxWaiters).Int("limit", able).Int("open_files", files).
			Msg("the limit of open files allows fewer long polls and streams than max_waiters")
	})/len(of.cfg.Numbers())), func(err error) {
		log.Warn().Err(err).Msg("notices of changes don't arrive; until they do, waiters check for changes each second")
	})
	if in.events, err = newPublisher(cfg, in.store, counted, in.guard.Unsettled, now, log); err != nil {
		return nil, err
	}
	in.store.OnChange(func(ids []stream.ID) {
		in.hub.Changed(ids)
		in.events.Changed(ids)
	})
	in.routes(counted, refusals)
	return in, nil
}

// newMetrics makes the metrics. Their sources are read at each scrape.
func (in *instance) newMetrics() *metrics.Metrics {
	return metrics.New(metrics.Options{
		Keys: in.store.KeysEstimate, Waiting: in.waiting, Disputes: in.disputed, Overdue: in.store.Overdue, FinalBehind: in.store.FinalLookupsBehind, Parked: in.store.ParkedEvents,
		Reconciled: func(ctx context.Context) (map[string]time.Duration, error) { return in.books.Ages(ctx) },
		NotesLost:  in.notes.Lost, Now: now,
		Stream: func() stream.Stats { return in.hub.Stats() }, Endpoints: func(ctx context.Context) (map[string]metrics.Endpoint, error) {
			return in.events.Undelivered(ctx, now())
		}, Readers: func() map[string]metrics.Reader { return in.events.Behind(now()) }, Streams: func(ctx context.Context) (map[string]metrics.PublishedTo, error) {
			return in.events.Unpublished(ctx, now())
		},
		Rejected: in.store.Rejected().Counts, Held: in.guard.All, Pool: func() metrics.Pool { return metrics.Pool(in.store.Usage()) },
		Unknown:  func(ctx context.Context) (map[string]map[string]int64, error) { return in.today.UnknownByAge(ctx) },
		Refusals: []string{string(support.SignedIn), string(support.RefusedToken), string(support.RefusedAccess)},
		Cell:     in.of.label(in.cfg.Cell),
	})
}

// refused counts a refusal and audits it.
func (in *instance) refused(r support.Refusal) {
	in.metrics.AccessRefused(string(r.Action))
	in.access.Refused(r)
}

// routes wires the handlers of the API and of operations, and the periodic work.
func (in *instance) routes(counted *metrics.Metrics, refusals *zerolog.Logger) {
	desk := support.New(support.Options{Store: in.store.Support(), Payments: in.useCases, Flush: in.notes.Flush, Endpoints: typesByEndpoint(in.cfg), Provider: providerFacts(in.cfg), Clocks: support.Clocks{Zone: in.cfg.Zone()}})
	in.today = overview.New(overview.Options{
		Store: in.store.Overview(), Audit: desk, Accounts: in.useCases, Endpoints: in.events.Endpoints, Held: in.guard.All, Breakers: counted.Breakers,
		Added: counted.Ended, Now: now,
	})
	in.metrics = counted
	counted.Reloaded(true, now())
	in.workers = worker.New(in.log, in.loops(in.how, counted)...)
	own := cells.BackOffice{
		Support: desk, Worklist: worklistOf(in.store, desk, in.useCases), Overview: in.today, Jobs: bulk.New(in.cfg.Cell, in.store.Jobs(), desk),
		Requests: refundrequest.New(in.store.Requests(), in.useCases, desk), Endpoints: in.events.Endpoints, Payments: in.useCases,
	}
	in.of.desks = append(in.of.desks, cells.Desk{Number: in.cfg.Cell, BackOffice: own})
	served := api.Options{
		Payments: in.of.payments(in), Reads: in.useCases, Events: in.events.Feed, FeedRead: in.events.Readers.Note, Lists: lists.New(in.of.lists(in.store)), Deliveries: in.useCases, Rejected: in.rejected.Keep, Refused: in.refused, Demo: in.how.dev,
		Auth: in.auth, Accounts: in.accounts.Receiving, Ready: in.ready(), Log: in.log, Refusals: refusals, Hub: in.hub, Origins: in.cfg.CORSOrigins,
		CustomersMay: customersMay(in.cfg), ReusedStatus: in.cfg.Idempotency.ReusedStatus, Quota: idempotency.Quota{NewKeys: in.cfg.Idempotency.Quota.NewKeys, Per: in.cfg.Idempotency.Quota.Per},
		Metrics: counted.Handler(), Observe: counted.Observe, Commands: counted.Commands, Version: version, TrustedProxies: in.cfg.TrustedProxies,
		OperationsApart: in.cfg.OperationsListen != "", Reference: in.accounts.Reference, Now: now,
	}
	in.role = in.how.role
	if in.role == roleWorker {
		in.handler = api.NewOperations(served)
		in.operations = in.handler
		return
	}
	in.handler = api.New(in.withStaff(served, own, in.of.label(in.cfg.Cell)))
	if served.OperationsApart {
		in.operations = api.NewOperations(served)
	}
	if in.cfg.Cell == payment.OnlyCell && len(in.of.cfg.Cells) > 0 {
		in.of.handler = api.New(in.withStaff(served, in.of.desks.All(), ""))
	}
}

// keys returns the API keys, which cell 0 has for all cells.
func (in *instance) keys() *postgres.APIKeyStore { return in.of.stores[payment.OnlyCell].APIKeys() }

// withStaff adds the functions of staff, of one cell, or of all cells if cell is empty.
func (in *instance) withStaff(o api.Options, d cells.BackOffice, cell string) api.Options {
	o.Support, o.Worklist, o.Overview, o.Jobs, o.RefundRequests, o.Endpoints = d.Support, d.Worklist, d.Overview, d.Jobs, d.Requests, d.Endpoints
	o.Keys = apikey.New(in.keys(), api.Scopes(), now)
	zone := in.cfg.Zone()
	found := finder.New(in.of.finder(in.store), d.Support, func() time.Time { return now().In(zone) })
	o.Finder, o.Console = found, in.newConsole(d, found, cell, in.how.dev)
	return o
}

func (in *instance) openAccounts(ctx context.Context, ring []auth.Key, counted *metrics.Metrics) error {
	fingerprint, err := auth.NewFingerprint(ring)
	if err != nil {
		return err
	}
	in.accounts, err = accounts.New(in.cfg, accounts.Options{
		Client: provider.NewHTTPClient(), Watch: accounts.Watch{Log: in.log, Metrics: counted, Now: now}, Noted: in.notes.Providers,
		Fingerprint: fingerprint, Begun: in.guard.Cover,
		Compare: func(list []config.Account) (map[string]accounts.Owned, error) {
			return in.compareMerchants(context.Background(), list, fingerprint)
		},
	})
	if err != nil {
		return err
	}
	claims := accounts.Claims(in.cfg.Accounts, provider.NewHTTPClient(), fingerprint, now)
	accounts.Fetch(ctx, claims)
	in.store.OnMerchants(func(ctx context.Context, m *postgres.Merchants) error {
		owned, err := accounts.Compare(ctx, m, claims, true, now())
		if err == nil {
			in.accounts.Own(owned, in.log)
		}
		return err
	})
	return nil
}

// waiting returns the open discrepancies by kind, for the metrics.
func (in *instance) waiting(ctx context.Context) (map[string]metrics.Waiting, error) {
	open, err := in.store.DiscrepanciesWaiting(ctx)
	found := make(map[string]metrics.Waiting, len(open))
	for kind, w := range open {
		found[kind] = metrics.Waiting(w)
	}
	return found, err
}

// disputed returns the open disputes by account, for the metrics.
func (in *instance) disputed(ctx context.Context) (map[string]metrics.Disputed, error) {
	found := map[string]metrics.Disputed{}
	return found, in.store.Lists().DisputesWaiting(ctx, func(account string, open int64, due float64) {
		found[account] = metrics.Disputed{Open: open, Due: due}
	})
}

var errUnhealthy = errors.New("a background loop keeps failing")

func (in *instance) ready() []api.Check {
	checks := []api.Check{
		{Name: "database", Run: in.store.TakesWrites},
		{Name: "migrations", Run: in.store.Migrated},
		{Name: "workers", Run: func(context.Context) error {
			if names := in.workers.Unhealthy(); len(names) > 0 {
				return fmt.Errorf("%w: %v", errUnhealthy, names)
			}
			return nil
		}},
	}
	if in.cfg.Environment == config.Live {
		checks = append(checks, api.Check{Name: "durability", Run: in.store.Durable})
	}
	return checks
}

// run runs the background work until serve returns. It then wakes the waiters, lets the workers' calls in progress end, and
// stops the committer last. The committer acknowledges the work that it has accepted and notifies the other processes.
func (in *instance) run(ctx context.Context, serve func() error) error {
	defer in.store.Close()
	workers, stopWorkers := context.WithCancel(ctx)
	committer, stopCommitter := context.WithCancel(context.WithoutCancel(ctx))
	announcer, stopAnnouncer := context.WithCancel(context.WithoutCancel(ctx))
	defer stopAnnouncer()
	defer stopCommitter()
	defer stopWorkers()
	hangups, forget := in.how.hangups()
	defer forget()

	var working, committing, announcing sync.WaitGroup
	announcing.Go(func() { _ = in.hub.Announce(announcer) })
	committing.Go(func() { _ = in.useCases.Run(committer) })
	working.Go(func() { _ = in.workers.Run(workers) })
	working.Go(func() { _ = in.auth.Run(workers) })
	working.Go(func() { _ = in.hub.Run(workers) })
	working.Go(func() {
		in.accounts.ReloadOn(workers, hangups, in.reload, func(taken bool) { in.metrics.Reloaded(taken, now()) }, in.log)
	})
	working.Go(func() { in.events.Run(workers, in.role != roleAPI) })
	if in.role != roleAPI {
		working.Go(func() { newNotices(in.cfg, in.store.Notices(), now, in.log).Run(workers) })
	}

	err := serve()
	stopWorkers()
	working.Wait()
	stopCommitter()
	committing.Wait()
	in.useCases.close()
	if lost := in.rejected.Flush(context.WithoutCancel(ctx)); lost != nil {
		in.log.Warn().Err(lost).Msg("the last rejected deliveries were not stored")
	}
	if lost := in.notes.Flush(ctx); lost != nil {
		in.log.Warn().Err(lost).Msg("the last timeline entries for support were not stored")
	}
	if lost := in.access.Close(context.WithoutCancel(ctx)); lost != nil {
		in.log.Warn().Err(lost).Msg("the last sign-outs and refusals were not stored in the audit log")
	}
	stopAnnouncer()
	announcing.Wait()
	if lost := in.guard.Leave(context.WithoutCancel(ctx), in.store.Marks()); lost != nil {
		in.log.Warn().Err(lost).Msg("the end of this process was not recorded in the database")
	}
	return err
}

// reload reads the configuration of the cell again. It refuses a configuration that would be refused
// at a start because of the cell's database.
func (in *instance) reload() (*config.Config, error) {
	cfg, err := in.how.load()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(cfg.Numbers(), in.cfg.Cell) {
		return nil, config.ValidationErrors{fmt.Sprintf("cells: cell %d is missing, but this process serves the cell: keep it in the configuration until the next start", in.cfg.Cell)}
	}
	of := cfg.In(in.cfg.Cell)
	if of.DatabaseURL == "" {
		return of, nil // the database of paylatch dev
	}
	store, err := openStore(context.Background(), of, string(of.DatabaseURL))
	if err != nil {
		return nil, err
	}
	defer store.Close()
	err = compareMap(context.Background(), store, of)
	if errors.Is(err, payment.ErrUnavailable) {
		in.log.Warn().Err(err).Msg("paylatch could not check the cell's number and map; it checks them at the next start")
		return of, nil
	}
	return of, err
}
