package main

import (
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/metrics"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/recheck"
	"github.com/paylatch/paylatch/internal/rejected"
	"github.com/paylatch/paylatch/internal/worker"
)

// loops are what the service does on a clock.
func (in *instance) loops(charged map[string]gateway.Account, counted *metrics.Metrics, dev bool) []worker.Loop {
	rechecks := recheck.New(recheck.Options{Store: in.store, Runner: in.rooms, Accounts: charged, Counted: counted.FinalLookup, Now: time.Now})
	marks := in.store.Marks()
	return []worker.Loop{
		worker.Reconcile(in.rooms, in.cfg.Reconcile.Every, in.log), worker.Recheck(rechecks), worker.ReconcileBooks(in.books, counted.Reconciled, in.log),
		worker.Mark(in.guard, marks), worker.Release(marks, in.books, in.log),

		worker.RetryParked(in.rooms), worker.RetryEarly(in.rooms), worker.Stale(in.rooms, counted.Stale), worker.Foreign(in.rooms, time.Now, in.log),
		worker.ReadAgain(in.rooms, version), worker.KeepRejected(in.rejected), worker.VerifyRejected(in.rejected),

		worker.Jobs(jobsOf(in.cfg, in.store, in.rooms, in.log)), worker.WriteNotes(in.notes), worker.WriteAccess(in.access),
		worker.Verify(in.store.Evidence(), counted.Verified, in.log), worker.Audit(in.store.Support(), !dev, time.Now, in.log),

		worker.PurgeKeys(in.store, counted.Purged), worker.PurgeEventBytes(in.store, in.cfg.Retention.EventBytes), worker.PurgeSessions(in.store.Sessions()),
		worker.PurgeRequests(in.store, payment.ResendWindow), worker.PurgeDetails(in.store), worker.PurgeRejected(in.store.Rejected(), rejected.Life),
		in.events.purge, in.events.purgeDeliveries,
	}
}
