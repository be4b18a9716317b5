package engine_test

import (
	"context"
	"maps"
	"time"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine"
	"github.com/paylatch/paylatch/internal/engine/activity"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/webhooks"
)

// store is the storage of an engine.
type store = engine.Store

// options configure a service.
type options struct {
	Store          store
	Accounts       map[string]gateway.Account
	DefaultAccount string
	OrdersBy       []payment.Role
	CustomersMay   []authz.Right
	ReturnSchemes  []string

	Wait, Lease, ProviderTimeout time.Duration
	Quota                        idempotency.Quota
	RecheckAfter, StaleAfter     time.Duration
	Seal                         func(text string, of []byte) ([]byte, error)
	Open                         func(sealed, of []byte) (string, error)
	Readers                      map[string]webhooks.Reader
	Notes                        *activity.Notes
	Foreign                      func(account string)
	Held                         changeset.Holds
	LookAgain                    func(context.Context) error
	Wanted                       func([]payment.OperationName)
	Now                          func() time.Time
}

// service is the engine, with reads of its worklists.
type service struct {
	*engine.Engine

	store store
}

func newService(o options) *service {
	return &service{store: o.Store, Engine: engine.New(engine.Options{
		Store: o.Store, Readers: current.Of(o.Readers), Now: o.Now,
		Rules: changeset.Rules{
			Accounts: current.Of(maps.Clone(o.Notes.Providers(o.Accounts))),
			Schedule: payment.Schedule{First: o.RecheckAfter, Lease: o.Lease}, Held: o.Held, LookAgain: o.LookAgain, Wanted: o.Wanted,
		},
		DefaultAccount: o.DefaultAccount, OrdersBy: o.OrdersBy, CustomersMay: o.CustomersMay, ReturnSchemes: o.ReturnSchemes, Wait: o.Wait, Quota: o.Quota,
		ProviderTimeout: o.ProviderTimeout, StaleAfter: o.StaleAfter, Seal: o.Seal, Open: o.Open, Foreign: o.Foreign,
	})}
}

// Attempt is commands.Commands.Attempt.
func (s *service) Attempt(ctx context.Context, actor authz.Actor, id payment.AttemptID) (payment.View, error) {
	return s.Commands.Attempt(ctx, actor, id)
}

// DueOperations lists operations of an account that are due.
func (s *service) DueOperations(ctx context.Context, account string, limit int) ([]payment.OperationName, error) {
	return s.Runner.Due(ctx, account, limit)
}

// Due lists attempts of an account that have an operation which is due.
func (s *service) Due(ctx context.Context, account string, limit int) (ids []payment.AttemptID, err error) {
	due, err := s.DueOperations(ctx, account, limit)
	seen := map[payment.AttemptID]bool{}
	for _, o := range due {
		if o.Kind != payment.OperationRefund && !seen[o.AttemptID] {
			seen[o.AttemptID] = true
			ids = append(ids, o.AttemptID)
		}
	}
	return ids, err
}

// DueRefunds lists the refunds of an account with an operation that is due.
func (s *service) DueRefunds(ctx context.Context, account string, limit int) (ids []payment.RefundID, err error) {
	due, err := s.DueOperations(ctx, account, limit)
	if err != nil {
		return nil, err
	}
	err = s.store.InTx(ctx, func(ctx context.Context, tx runner.Tx) error {
		ids = nil
		for _, o := range due {
			if o.Kind != payment.OperationRefund {
				continue
			}
			a, _, err := tx.AttemptLock(ctx, o.AttemptID)
			if err != nil {
				return err
			}
			ids = append(ids, a.Operation(o.Kind, o.Number).RefundID)
		}
		return nil
	})
	return ids, err
}

// allTx is a transaction of any room.
type allTx interface {
	commands.Tx
	intake.Tx
}

// spyStore is a store with transactions that the test sees and may wrap.
type spyStore struct {
	store

	// around runs a transaction; wrap replaces its view of the storage.
	around func(run func() error) error
	wrap   func(tx allTx) allTx
}

func (s spyStore) tx(tx any) allTx {
	all, _ := tx.(allTx)
	if s.wrap != nil {
		return s.wrap(all)
	}
	return all
}

func (s spyStore) run(do func() error) error {
	if s.around != nil {
		return s.around(do)
	}
	return do()
}

// InTx implements runner.Store.
func (s spyStore) InTx(ctx context.Context, fn func(context.Context, runner.Tx) error) error {
	return s.run(func() error {
		return s.store.InTx(ctx, func(ctx context.Context, tx runner.Tx) error { return fn(ctx, s.tx(tx)) })
	})
}

// InEventTx implements intake.Store.
func (s spyStore) InEventTx(ctx context.Context, fn func(context.Context, intake.Tx) error) error {
	return s.run(func() error {
		return s.store.InEventTx(ctx, func(ctx context.Context, tx intake.Tx) error { return fn(ctx, s.tx(tx)) })
	})
}

// InCommandTx implements commands.Store.
func (s spyStore) InCommandTx(ctx context.Context, fn func(context.Context, commands.Tx) error) error {
	return s.run(func() error {
		return s.store.InCommandTx(ctx, func(ctx context.Context, tx commands.Tx) error { return fn(ctx, s.tx(tx)) })
	})
}
