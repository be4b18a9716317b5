package main

import (
	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/backoffice/rejected"
	"github.com/paylatch/paylatch/internal/ledger/recheck"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/internal/platform/worker"
)

// Roles of a process.
const (
	roleAll    = "all"
	roleAPI    = "api"
	roleWorker = "worker"
)

// loops returns the periodic work of a process with a role: its own work, and the shared work that any process can do.
func (in *instance) loops(how serving, counted *metrics.Metrics) []worker.Loop {
	marks := in.store.Marks()
	own := []worker.Loop{
		worker.Mark(in.guard, marks), worker.Release(marks, in.books, in.log), worker.KeepRejected(in.rejected), worker.WriteNotes(in.notes), worker.WriteAccess(in.access),
		worker.RefreshDataKeys(in.store.Keys(), in.log),
	}
	if how.role == roleAPI {
		return own
	}
	return append(own, in.shared(counted, how.dev)...)
}

func (in *instance) shared(counted *metrics.Metrics, dev bool) []worker.Loop {
	rechecks := recheck.New(recheck.Options{Store: in.store, Runner: in.useCases, Accounts: in.accounts.Charged, Counted: counted.FinalLookup, Now: now})
	return append([]worker.Loop{
		worker.Reconcile(in.useCases, in.cfg.Reconcile.Every, in.log), worker.Recheck(rechecks), worker.ReconcileBooks(in.books, counted.Reconciled, in.log),

		worker.RetryParked(in.useCases), worker.RetryEarly(in.useCases), worker.Stale(in.useCases, counted.Stale), worker.Foreign(in.useCases, now, in.log),
		worker.ReadAgain(in.useCases, version), worker.VerifyRejected(in.rejected),

		worker.Jobs(jobsOf(in.cfg, in.store, in.useCases, in.log)), worker.Settle(settlerOf(in.store, in.log)), worker.IndexSearch(finder.NewIndex(in.store.Finder())),
		worker.CountHours(in.today), worker.PurgeHours(in.today), worker.Verify(in.store.Evidence(), counted.Verified, in.log), worker.Audit(in.store.Support(), auditMark{in.cfg.DataDir, in.store}, !dev, now, in.log),

		worker.PurgeKeys(in.store, counted.Purged), worker.AgeEventBytes(in.store.Keys(), in.cfg.Retention.EventBytes), worker.PurgeSessions(in.store.Sessions()),
		worker.PurgeRequests(in.store, payment.ResendWindow), worker.PurgeDetails(in.store), worker.PurgeRejected(in.store.Rejected(), rejected.Life),
		worker.PurgeAudit(in.store.Erasures(), in.cfg.Retention.Audit), worker.PurgeLog(in.store.Erasures(), in.cfg.Retention.Log),
	}, in.events.Purges...)
}
