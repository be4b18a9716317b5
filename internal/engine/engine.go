// Package engine wires the use cases of payments on one store. The use cases are the commands of callers, the intake of
// webhooks, and the runner that executes operations at providers.
package engine

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/webhooks"
)

// Store is the storage of all use cases.
type Store interface {
	commands.Store
	intake.Store
	runner.Store
}

// Options configure an engine. Store, Rules.Accounts and Now are required.
type Options struct {
	Store Store
	changeset.Rules
	// Readers read the events again that could not be read, by account.
	Readers *current.Map[webhooks.Reader]

	// DefaultAccount takes the pays that name no account.
	DefaultAccount string
	// OrdersBy are the roles that may create orders; nil stands for the service alone.
	OrdersBy []payment.Role
	// CustomersMay are further rights of customers.
	CustomersMay []authz.Right
	// ReturnSchemes are the schemes of apps that a return URL may have.
	ReturnSchemes []string
	// Wait is how long a repeated request waits for the first one.
	Wait time.Duration
	// Quota bounds the new keys of one user.
	Quota idempotency.Quota

	// ProviderTimeout bounds one call to a provider.
	ProviderTimeout time.Duration
	// StaleAfter is how long attempts may be pending without a webhook of their account until the account counts as stale.
	StaleAfter time.Duration
	// Seal encrypts the content of a charge for its resend, and Open decrypts it. Without them no charge is sent twice.
	Seal func(text string, of []byte) ([]byte, error)
	Open func(sealed, of []byte) (string, error)

	// Prompt carries out operations right after the commit that wanted them. Without it they wait for the reconciler.
	Prompt bool
	// Foreign is called with the account of each event that has become foreign; nil for nothing.
	Foreign func(account string)
	// Flushed returns the function that is called with the number of items in each shared transaction of the pays, the webhooks or the
	// results; nil for nothing.
	Flushed func(of string) func(items int)
	// Now is the process's clock; it must carry a monotonic reading.
	Now func() time.Time
}

// Engine has the use cases. It is safe for concurrent use.
type Engine struct {
	*commands.Commands
	*intake.Inbox
	*runner.Runner

	prompt *runner.Prompt
}

// New wires the use cases. Run must be called for webhooks to be taken in, and Close in the end.
func New(o Options) *Engine {
	if o.Flushed == nil {
		o.Flushed = func(string) func(int) { return nil }
	}
	e := &Engine{}
	if o.Prompt {
		e.prompt = runner.NewPrompt(func(ctx context.Context, name payment.OperationName, cause payment.Cause) (payment.Attempt, error) {
			return e.Execute(ctx, name, cause)
		})
		o.Wanted = e.prompt.Wanted
	}
	e.Runner = runner.New(runner.Options{
		Store: o.Store, Rules: o.Rules, ProviderTimeout: o.ProviderTimeout, Seal: o.Seal, Open: o.Open, Flushed: o.Flushed("results"), Now: o.Now,
	})
	e.Commands = commands.New(commands.Options{
		Store: o.Store, Runner: e.Runner, DefaultAccount: o.DefaultAccount, OrdersBy: o.OrdersBy, CustomersMay: o.CustomersMay, ReturnSchemes: o.ReturnSchemes,
		Wait: o.Wait, Quota: o.Quota, Flushed: o.Flushed("pays"),
	})
	e.Inbox = intake.New(intake.Options{
		Store: o.Store, Rules: o.Rules, Readers: o.Readers, ProviderTimeout: o.ProviderTimeout, StaleAfter: o.StaleAfter,
		Foreign: o.Foreign, Flushed: o.Flushed("webhooks"), Now: o.Now,
	})
	return e
}

// Close waits for the operations that are carried out right after their commit, and begins no further one.
func (e *Engine) Close() {
	if e.prompt != nil {
		e.prompt.Close()
	}
}
