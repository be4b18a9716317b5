package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Pay is the command. An empty Account means the default one; Amount and Currency, where
// given, must be the order's.
type Pay struct {
	// Details are the data for the provider. A customer without a reference is the user.
	gateway.Details

	OrderID  payment.OrderID
	Account  string
	Capture  payment.CaptureMode
	Amount   *int64
	Currency *payment.Currency
	// ownCustomer is set if the pay came with a customer.
	ownCustomer bool
	// Supersedes is the order's live external attempt that the customer has abandoned; nil if there is none.
	Supersedes *payment.AttemptID
}

// of is the pay with its customer's reference.
func (p Pay) of(actor authz.Actor) Pay {
	p.ownCustomer = p.Customer != gateway.Customer{}
	p.Customer.Reference = cmp.Or(p.Customer.Reference, string(actor.User()))
	return p
}

// consistent refuses members that contradict each other.
func (p Pay) consistent() error {
	switch {
	case p.Unattended && !p.Stored:
		return payment.Invalid("initiator", "must be customer: only a stored payment method can be charged without the customer")
	case p.Unattended && p.Save:
		return payment.Invalid("save_payment_method", "must be left out: a payment method can be stored only while the customer is present")
	case p.Stored && p.Save:
		return payment.Invalid("save_payment_method", "must be left out: the payment method is stored already")
	}
	return nil
}

// Pay tries to pay an order. There is one attempt for each (order, user, request), for ever, and one charge for each
// attempt. It returns the attempt with any outcome. The errors are payment's ErrForbidden, ErrUserMissing,
// ErrAccountNotOffered, ErrOrderNotFound, ErrOrderPaid, ErrOrderCancelled, InProgressError, ValidationError,
// ErrStoredMethod, ErrMethodRemoved, ErrMethodNotYours, ErrProviderUnavailable, ErrAccountPaused, ErrPaysHeld, and those of
// idempotency.Take.
func (c *Commands) Pay(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd Pay) (Reply, error) {
	if err := actor.MayAct(); err != nil {
		return Reply{}, err
	}
	cmd = cmd.of(actor)
	if err := actor.MayUse(cmd.Details); err != nil {
		return Reply{}, err
	}
	if err := cmd.consistent(); err != nil {
		return Reply{}, err
	}
	if cmd.Account == "" {
		cmd.Account = c.DefaultAccount
	}
	reply, shared, err := c.replies.Do(ctx, req, c.Wait, func() (Reply, error) {
		return c.pay(context.WithoutCancel(ctx), actor, req, cmd)
	})
	if shared {
		reply.Result, reply.TookOver = idempotency.Reused, false
	}
	if shared && errors.Is(err, idempotency.ErrInProgress) {
		// Commit 1 of the first may still be on its way.
		if now, err := c.payAgain(ctx, actor, req, cmd, 0); !errors.Is(err, payment.ErrAttemptNotFound) {
			return now, err
		}
	}
	return reply, err
}

// mayCaptureSeveral refuses a hold with several captures to customers, and where the provider captures a hold once.
func mayCaptureSeveral(actor authz.Actor, account gateway.Account, mode payment.CaptureMode) error {
	switch {
	case mode != payment.CaptureSeveral:
		return nil
	case actor.ActsAs() == payment.RoleCustomer:
		return &authz.RoleError{Needed: []payment.Role{payment.RoleService}, Or: "send `manual` for `capture`, if the shop allows that"}
	case account.Provider.Capabilities().Captures < payment.CapturesSeveral:
		return payment.Invalid("capture", "must be automatic or manual: this account's provider captures a hold only once")
	}
	return nil
}

// mayReturn refuses an app's address that the configuration does not list, or that the account's provider does not take.
func (c *Commands) mayReturn(account gateway.Account, address string) error {
	scheme, _, _ := strings.Cut(address, ":")
	switch scheme = strings.ToLower(scheme); {
	case scheme == "", scheme == "http", scheme == "https":
		return nil
	case !slices.Contains(c.ReturnSchemes, scheme):
		return payment.Invalid("return_url", "must be an http or https address, or have a scheme that orders.return_schemes of the configuration lists")
	case account.WebReturns:
		return payment.Invalid("return_url", "must be an http or https address: this account's provider does not return customers to an app. Let a page of yours open the app")
	}
	return nil
}

func (c *Commands) pay(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd Pay) (Reply, error) {
	reply, err := c.payAgain(ctx, actor, req, cmd, c.Wait)
	if !errors.Is(err, payment.ErrAttemptNotFound) {
		return reply, err
	}
	account, ok := c.Runner.Accounts.Find(cmd.Account)
	if actor.ActsAs() == payment.RoleCustomer && !account.Offered && cmd.Account != c.DefaultAccount {
		return Reply{}, payment.ErrAccountNotOffered
	}
	if !ok || account.Provider == nil {
		return Reply{}, payment.Invalid("account", "name a configured account that can be charged")
	}
	if account.Paused {
		return Reply{}, gateway.ErrAccountPaused
	}
	if err := mayCaptureSeveral(actor, account, cmd.Capture); err != nil {
		return Reply{}, err
	}
	if err := c.mayReturn(account, cmd.ReturnURL); err != nil {
		return Reply{}, err
	}
	if c.Runner.HoldsPays() {
		return Reply{}, c.Runner.Waits()
	}
	bare, detailed := cmd, 0
	if cmd.Stored && !cmd.ownCustomer { // the order may name the customer
		if cmd, detailed, err = c.detailed(ctx, actor, cmd); err != nil {
			return Reply{}, err
		}
	}
	if err := c.checkMethod(ctx, account.Provider, cmd); err != nil {
		return Reply{}, err
	}
	permit := c.Runner.Permit()
	p := &payStart{
		actor: actor, req: req, cmd: cmd, bare: bare, accepts: account.Provider.Accepts, unseen: account.Provider.Unseen,
		split: account.Further.Split, detailed: detailed,
	}
	a, err := c.start(ctx, p)
	if errors.Is(err, errReplay) {
		return c.payAgain(ctx, actor, req, cmd, c.Wait)
	}
	if err != nil {
		return Reply{}, err
	}
	t := runner.TaskOf(a, a.Operations[0], payment.Send, p.cmd.Text())
	if a, err = c.Runner.Record(ctx, t, c.Runner.Send(ctx, t, permit, payment.Cause{}), nil); err != nil {
		return Reply{}, err
	}
	a.Disputes = []payment.Dispute{} // it is new
	v, err := c.Runner.View(ctx, a)
	return Reply{View: v, Result: idempotency.Created}, err
}

// payAgain is the response to a repeated request that has made its attempt. It returns the attempt as it is after its
// runner is done, or after wait. It takes over the charge of a runner that died. It returns payment.ErrAttemptNotFound
// for a new request.
func (c *Commands) payAgain(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd Pay, wait time.Duration) (Reply, error) {
	name := payment.RequestName{Order: cmd.OrderID, User: actor.User(), Request: payment.RequestID(req.Key)}
	a, err := c.byRequest(ctx, name)
	if err != nil {
		return Reply{}, err
	}
	if err := req.Same(a.RequestHash); err != nil {
		return Reply{}, err
	}
	if charging(a) && wait > 0 {
		if a, err = c.await(ctx, a, wait); err != nil {
			return Reply{}, err
		}
	}
	if charge := a.OpenTake(); charge != nil && a.Unreported() && charge.LeaseUntil != nil && !charge.Leased(a.ReadAt) {
		if cmd, _, err = c.detailed(ctx, actor, cmd); err != nil {
			return Reply{}, err
		}
		v, err := c.Runner.Resume(ctx, a.ID, payment.Cause{Kind: payment.CausePay, ID: string(a.RequestID)}, cmd.Text())
		if !errors.Is(err, payment.ErrBusy) {
			return Reply{View: v, Result: idempotency.Reused, TookOver: true}, err
		}
	}
	v, err := c.Runner.View(ctx, a)
	return Reply{View: v, Result: idempotency.Reused}, err
}

// charging reports whether a runner has the attempt's charge and nothing was reported yet.
func charging(a payment.Attempt) bool {
	charge := a.OpenTake()
	return charge != nil && charge.Leased(a.ReadAt) && a.Unreported()
}

// await looks again until no runner has the attempt's charge or wait is over.
func (c *Commands) await(ctx context.Context, a payment.Attempt, wait time.Duration) (payment.Attempt, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return a, nil
		case <-tick.C:
		}
		if ctx.Err() != nil { // both were ready
			return a, nil
		}
		next, err := c.Store.AttemptsByRequest(ctx, []payment.RequestName{a.Name()})
		switch {
		case ctx.Err() != nil:
			return a, nil
		case err != nil:
			return a, err
		}
		if a = next[a.Name()]; !charging(a) {
			return a, nil
		}
	}
}

// checkMethod returns why a new pay can't be paid with a method, before anything of it is
// on disk: payment's ErrStoredMethod, ErrMethodRemoved, ErrMethodNotYours, ValidationError, or
// ErrProviderUnavailable where its owner can't be looked up.
func (c *Commands) checkMethod(ctx context.Context, p gateway.Provider, cmd Pay) error {
	d := cmd.Details
	switch kind := p.TokenKind(d.Token); {
	case !d.Stored && kind == gateway.TokenStored:
		return payment.ErrStoredMethod
	case !d.Stored:
		return nil
	case kind == gateway.TokenSingleUse:
		return payment.Invalid("payment_method.stored", "must be left out: this is not the token of a stored payment method")
	}
	removed, err := c.Store.MethodRemoved(ctx, payment.MethodName{Account: cmd.Account, Token: d.Token})
	switch {
	case err != nil:
		return err
	case removed:
		return payment.ErrMethodRemoved
	}
	ctx, cancel := context.WithTimeout(ctx, c.Runner.ProviderTimeout)
	defer cancel()
	switch err := p.CheckOwner(ctx, d.Token, d.Customer.Reference); {
	case err == nil, errors.Is(err, payment.ErrMethodNotYours):
		return err
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return payment.ErrMethodNotYours
	case errors.Is(err, gateway.ErrUnsupported), errors.Is(err, gateway.ErrUnsupportedRequest):
		return payment.Invalid("payment_method.token", "must be a stored payment method that this account's provider can charge")
	default:
		return fmt.Errorf("%w: look up the owner of a stored payment method: %w", payment.ErrProviderUnavailable, err)
	}
}
