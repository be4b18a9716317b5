// Package commands has the use cases. Each file has one, named like the verb of the API: create an order, pay, confirm,
// cancel, refund, resolve.
//
// A command is executed once for its idempotency key, however often a person or the network repeats it:
//
//	key claimed, rules checked, operation begun      commit 1
//	runner.Send                                      no transaction open
//	runner.Record, response stored under the key     commit 2
//
// The same request in one process shares the execution. In another process it waits for the response, or continues the
// execution of a process that died.
package commands

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/groupcommit"
	"github.com/paylatch/paylatch/internal/platform/throttle"
)

// Options configure Commands.
type Options struct {
	Store          Store
	Runner         *runner.Runner
	DefaultAccount string
	// OrdersBy are the roles that may create orders, and so set prices; nil means the
	// service alone.
	OrdersBy []payment.Role
	// CustomersMay are rights of customers beyond the built-in ones.
	CustomersMay []authz.Right
	// ReturnSchemes are the schemes of apps that a return URL may have beside http and https.
	ReturnSchemes []string
	// Wait is how long a duplicate waits for the first request.
	Wait time.Duration
	// Quota bounds the new keys of one user.
	Quota idempotency.Quota
	// Flushed is called with how many pays share each transaction; nil for nothing.
	Flushed func(items int)
}

// Commands executes the use cases. It is safe for concurrent use.
type Commands struct {
	Options

	replies  idempotency.Flights[Reply]
	orders   idempotency.Flights[orderReply]
	amended  idempotency.Flights[AmendedOrder]
	refunds  idempotency.Flights[RefundReply]
	attempts *groupcommit.Reads[payment.AttemptID, payment.Attempt]
	requests *groupcommit.Reads[payment.RequestName, payment.Attempt]
	pays     *groupcommit.Group[*payStart]
	// checks limits the lookups of one attempt, lookups the lookups that one user causes.
	checks, lookups *throttle.KeyedLimiter
}

// New returns the commands.
func New(o Options) *Commands {
	if len(o.OrdersBy) == 0 {
		o.OrdersBy = []payment.Role{payment.RoleService}
	}
	c := &Commands{Options: o, checks: throttle.New(1/checkEvery.Seconds(), 1), lookups: throttle.New(1/checkEvery.Seconds(), checksAtOnce)}
	c.attempts = groupcommit.NewReads(o.Store.AttemptsByID)
	c.requests = groupcommit.NewReads(o.Store.AttemptsByRequest)
	c.pays = groupcommit.Shared(c.startAll, o.Flushed)
	return c
}

// Reply is the result of a command on an attempt: a pay, a confirm or a cancel.
type Reply struct {
	payment.View
	Result idempotency.Result
	// TookOver is set if an earlier runner left the command without a response and this
	// request went on with it.
	TookOver bool
}

// orderReply is the result of a command on an order.
type orderReply struct {
	payment.Order
	result idempotency.Result
}

// pollEvery is how often a duplicate looks whether another process is done.
const pollEvery = 100 * time.Millisecond

// errReplay is returned where the same request made its attempt, or its refund, a moment ago.
var errReplay = errors.New("the same request arrived before")

// claim is a command's claim of its key.
func (c *Commands) claim(req idempotency.Request, keep time.Duration) idempotency.Claim {
	return idempotency.Claim{Request: req, Lease: c.Runner.Schedule.Lease, Keep: keep}
}

// firstCommit is the work of a command in its first transaction, as [idempotency.Execute] runs it.
type firstCommit func(ctx context.Context, tx Tx, rec idempotency.Record) (*idempotency.Response, error)

// underKey runs a command's first commit under its key. A refusal that was stored before is
// returned as a ReplayError.
func (c *Commands) underKey(ctx context.Context, req idempotency.Request, keep time.Duration, run firstCommit) (idempotency.Execution, error) {
	return execute(ctx, c.Store.InCommandTx, c.claim(req, keep), run)
}

// execute is [idempotency.Execute] with a stored refusal as an error.
func execute(
	ctx context.Context, begin func(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error, claim idempotency.Claim, run firstCommit,
) (idempotency.Execution, error) {
	done, err := idempotency.Execute(ctx, begin, claim, run)
	if err == nil && done.Replay != nil {
		err = done.Replay.Err()
	}
	return done, err
}

// unseen is the result of a command on an object that does not exist. An actor that may only name its own objects can't
// find out which ids exist.
func unseen(actor authz.Actor, err error) error {
	if err = actor.Unseen(err); errors.Is(err, payment.ErrForbidden) {
		return err
	}
	return idempotency.Refused(err)
}

// callable refuses a command on an attempt of a provider that can't be called.
func (c *Commands) callable(a payment.Attempt) error {
	if _, ok := c.Runner.Account(a); ok {
		return nil
	}
	if c.Runner.Accounts.Get(a.Account).Provider != nil {
		return payment.Invalid("account", "this attempt belongs to another merchant than the account's present one, so paylatch does not "+
			"send it: act in the old merchant's dashboard, or configure the old merchant under this account's name again and the "+
			"new merchant under another name")
	}
	if a.Origin != payment.OriginPaylatch {
		return payment.Invalid("account", "paylatch can't call the provider of this attempt: act at the provider, whose webhooks or your report then update the attempt")
	}
	return payment.Invalid("account", "the account of this attempt is no longer configured")
}
