package commands

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/tracing"
)

// payStart is commit 1 of one pay. A pay with left set must be started alone.
type payStart struct {
	actor authz.Actor
	req   idempotency.Request
	cmd   Pay
	// accepts refuses a charge that the provider would refuse for its form.
	accepts func(gateway.Charge) error
	// unseen is the provider's; see gateway.Provider.
	unseen func(gateway.Details) (time.Duration, bool)
	// split tells which pays share their money.
	split gateway.Split
	// elsewhere is set for a payment that another party begins; the attempt then carries no data.
	elsewhere *External
	attempt   payment.Attempt
	err       error
	left      bool
	// bare is the pay without the order's details. detailed is the revision of the order whose details were read for cmd; 0
	// before that.
	bare     Pay
	detailed int
	// request is the span of the pay's request, shared the span of the shared transaction; empty where traces are off.
	request, shared tracing.Context
}

// errNeedsDetails is returned where the order has details that the pay lacks, or was amended since they were read.
var errNeedsDetails = errors.New("the order's details are to be read")

// start is commit 1: the attempt and its charge are on disk before a byte is sent. Pays that
// come at the same time share a transaction, if nothing about them must be waited for or
// looked at twice.
func (c *Commands) start(ctx context.Context, p *payStart) (payment.Attempt, error) {
	since := tracing.Mark(ctx)
	p.request = tracing.Current(ctx)
	a, err := c.attempted(ctx, p)
	if err == nil {
		tracing.First(ctx, tracing.Past{
			Name: "payment attempt", Of: tracing.Of{Attempt: a.ID, Order: string(a.OrderID), Account: a.Account, Kind: "pay"}, Since: since, Shared: p.shared,
		})
	}
	return a, err
}

func (c *Commands) attempted(ctx context.Context, p *payStart) (payment.Attempt, error) {
	err := c.pays.Do(context.WithoutCancel(ctx), p)
	if p.left || err != nil && p.err == nil {
		p.err = c.startAlone(ctx, p)
	}
	for range detailReads {
		if !errors.Is(p.err, errNeedsDetails) {
			return p.attempt, p.err
		}
		if p.bare.Stored && p.detailed > 0 { // the customer whose payment method it is may be another one now
			break
		}
		if p.cmd, p.detailed, p.err = c.detailed(ctx, p.actor, p.bare); p.err == nil {
			p.err = c.startAlone(ctx, p)
		}
	}
	if errors.Is(p.err, errNeedsDetails) {
		p.err = payment.ErrBusy
	}
	return p.attempt, p.err
}

// detailReads is how often a pay reads the details of an order that is amended meanwhile.
const detailReads = 3

// startAll starts the first pays of orders that are not locked.
func (c *Commands) startAll(ctx context.Context, pays []*payStart) (err error) {
	ctx, span := tracing.Batch(ctx, "commit pays", pays, func(p *payStart) tracing.Context { return p.request })
	defer func() { span.End("", err != nil) }()
	for _, p := range pays {
		p.shared = span.Context()
	}
	counted := c.countKeys(ctx, pays)
	if len(counted) == 0 {
		return nil
	}
	return c.Store.InCommandTx(ctx, func(ctx context.Context, tx Tx) error {
		started, err := c.startIn(ctx, tx, counted)
		if err != nil || len(started) == 0 {
			return err
		}
		return insert(ctx, tx, started)
	})
}

// startIn makes the attempts of the pays that are the first of a free order.
func (c *Commands) startIn(ctx context.Context, tx Tx, pays []*payStart) (started []*payStart, err error) {
	keys, ids := make([]idempotency.Request, len(pays)), make([]payment.OrderID, len(pays))
	for i, p := range pays {
		keys[i], ids[i] = p.req, p.cmd.OrderID
	}
	known, orders, err := tx.OrdersTake(ctx, keys, ids)
	if err != nil {
		return nil, err
	}
	for _, p := range pays {
		order, free := orders[p.cmd.OrderID]
		_, seen := known[p.req.Name()]
		p.left = seen || !free || len(order.Attempts) > 0 || p.check(order) != nil || order.TakesPay() != nil
		if p.left {
			continue
		}
		if p.attempt, err = c.newAttempt(tx.Now(), order, p); err != nil {
			return nil, err
		}
		started = append(started, p)
		delete(orders, order.ID) // the next pay of this order finds it taken
	}
	return started, nil
}

// countKeys counts the new keys of pays and returns the pays within the quota.
func (c *Commands) countKeys(ctx context.Context, pays []*payStart) []*payStart {
	keys := make([]idempotency.Request, len(pays))
	for i, p := range pays {
		keys[i] = p.req
	}
	refused, err := c.Quota.TakeAll(ctx, c.Store, keys)
	var counted []*payStart
	for i, p := range pays {
		switch {
		case err != nil:
			p.err = err
		case refused[i] != nil:
			p.err = refused[i]
		default:
			counted = append(counted, p)
		}
	}
	return counted
}

// insert writes new attempts, each as the response to its key.
func insert(ctx context.Context, tx Tx, started []*payStart) error {
	attempts, responses := make([]payment.Attempt, len(started)), make([]idempotency.Stored, len(started))
	for i, p := range started {
		attempts[i] = p.attempt
		responses[i] = idempotency.Stored{Request: p.req, Keep: idempotency.KeepMoney, Response: p.response()}
	}
	if err := tx.KeysStore(ctx, responses); err != nil {
		return err
	}
	return tx.AttemptsInsert(ctx, attempts)
}

func (p *payStart) response() idempotency.Response {
	return idempotency.Response{Status: http.StatusCreated, Subject: p.attempt.ID.String()}
}

// startAlone starts one pay in all cases. If nothing but the order's live attempt is in its way, an attempt that it supersedes is
// abandoned first, and a page that may still be open after a decline is closed first.
func (c *Commands) startAlone(ctx context.Context, p *payStart) error {
	err := c.startLocked(ctx, p)
	live, ok := errors.AsType[*payment.InProgressError](err)
	switch {
	case !ok:
		return err
	case p.cmd.Supersedes != nil && *p.cmd.Supersedes == live.Attempt.ID:
		err = c.supersede(ctx, live.Attempt.ID)
	case c.closesPage(live.Attempt):
		err = c.closePage(ctx, live.Attempt.ID, p)
	default:
		return err
	}
	if err != nil {
		return err
	}
	return c.startLocked(ctx, p)
}

// startLocked makes the attempt of one pay. The order is locked before the key, as in a shared transaction: a pay's key is
// of one order.
func (c *Commands) startLocked(ctx context.Context, p *payStart) error {
	var order payment.Order
	var missing error
	locked := func(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
		return c.Store.InCommandTx(ctx, func(ctx context.Context, tx Tx) error {
			if order, missing = tx.OrderLock(ctx, p.cmd.OrderID); missing != nil && !errors.Is(missing, payment.ErrOrderNotFound) {
				return missing
			}
			return fn(ctx, tx)
		})
	}
	run := func(ctx context.Context, tx Tx, _ idempotency.Record) (*idempotency.Response, error) {
		if missing != nil {
			return nil, unseen(p.actor, missing)
		}
		return c.startOn(ctx, tx, p, order)
	}
	done, err := execute(ctx, locked, c.claim(p.req, idempotency.KeepMoney), run)
	if err == nil && done.Replay != nil {
		return errReplay
	}
	return err
}

// startOn starts one pay of a locked order.
func (c *Commands) startOn(ctx context.Context, tx Tx, p *payStart, order payment.Order) (*idempotency.Response, error) {
	if err := p.check(order); err != nil {
		return nil, err
	}
	if p.elsewhere != nil {
		if err := p.elsewhere.names().ofOthers(ctx, tx, p.cmd.Account, payment.AttemptID{}); err != nil {
			return nil, err
		}
	}
	switch err := order.TakesPay(); {
	case errors.Is(err, payment.ErrOrderPaid), errors.Is(err, payment.ErrOrderCancelled):
		return nil, idempotency.Refused(err)
	case err != nil:
		return nil, err
	}
	var err error
	if p.attempt, err = c.newAttempt(tx.Now(), order, p); err != nil {
		return nil, err
	}
	if err := tx.AttemptsInsert(ctx, []payment.Attempt{p.attempt}); err != nil {
		return nil, err
	}
	if err := c.learnNames(ctx, tx, p); err != nil {
		return nil, err
	}
	response := p.response()
	return &response, nil
}

// check refuses a pay that does not fit its order, or that came before.
func (p *payStart) check(o payment.Order) error {
	user := p.actor.User()
	if o.UserID != user {
		return payment.ErrForbidden
	}
	hasAll := len(p.cmd.Lines) > 0 && p.cmd.ownCustomer && p.actor.Has(payment.RoleService)
	if (o.Detailed || p.detailed > 0) && p.detailed != o.Revision && p.elsewhere == nil && !hasAll {
		return errNeedsDetails
	}
	for _, a := range o.Attempts {
		if a.UserID == user && a.RequestID == payment.RequestID(p.req.Key) {
			return errReplay
		}
	}
	if err := p.cmd.supersedes(o); err != nil {
		return err
	}
	if p.cmd.Amount != nil && *p.cmd.Amount != o.Money.Minor {
		return payment.Invalid("amount", fmt.Sprintf("must be the order's amount, %d, or be left out", o.Money.Minor))
	}
	if p.cmd.Currency != nil && *p.cmd.Currency != o.Money.Currency {
		return payment.Invalid("currency", fmt.Sprintf("must be the order's currency, %s, or be left out", o.Money.Currency))
	}
	if err := addUp(p.cmd.Lines, o.Money); err != nil || p.accepts == nil {
		return err
	}
	return p.accepts(gateway.Charge{Details: p.cmd.Details, Order: o.ID, Money: o.Money, Capture: p.cmd.Capture.AtProvider(), Several: p.cmd.Capture == payment.CaptureSeveral})
}

// supersedes refuses an attempt of another order, and an attempt that paylatch began.
func (p Pay) supersedes(o payment.Order) error {
	if p.Supersedes == nil {
		return nil
	}
	if a := o.Attempt(*p.Supersedes); a == nil || a.Origin != payment.OriginExternal {
		return payment.Invalid("supersedes", "must be an attempt of this order that was begun outside paylatch")
	}
	return nil
}

// addUp refuses lines with other amounts than the order's.
func addUp(lines []gateway.Line, money payment.Money) error {
	var sum int64
	for _, l := range lines {
		sum += l.Amount
	}
	if len(lines) > 0 && sum != money.Minor {
		return payment.Invalid("lines", fmt.Sprintf("must have amounts that add up to the order's amount, %d; they add up to %d", money.Minor, sum))
	}
	return nil
}

// newAttempt is an attempt with its charge. The charge has begun.
func (c *Commands) newAttempt(now time.Time, o payment.Order, p *payStart) (payment.Attempt, error) {
	begun := payment.OriginPaylatch
	if p.elsewhere != nil {
		begun = payment.OriginExternal
	}
	a := payment.Attempt{
		ID: payment.AttemptID(c.Runner.Cell.NewID()), OrderID: o.ID, UserID: o.UserID, Origin: begun,
		RequestID: payment.RequestID(p.req.Key), RequestHash: p.req.Hash, Account: p.cmd.Account,
		Merchant: c.Runner.Accounts.Get(p.cmd.Account).Merchant, State: begun.First(), Money: o.Money, Capture: p.cmd.Capture,
		Split: p.split.Of(p.cmd.ProviderData), Version: 1, CreatedAt: now, UpdatedAt: now, ReadAt: now,
	}
	if p.elsewhere != nil {
		c.beginElsewhere(&a, *p.elsewhere)
		return a, nil
	}
	op := a.NewOperation(payment.OperationCharge, payment.OperationOriginRequest, now)
	op.OriginID = string(p.req.Key)
	var err error
	if op.SealedRequest, err = c.Runner.Sealed(p.cmd.Text(), a.ID[:]); err != nil {
		return a, err
	}
	if a.SealedReceipt, err = c.receipt(p.cmd.Details, a.ID); err != nil {
		return a, err
	}
	if payable, ends := p.unseen(p.cmd.Details); ends {
		op.UnpaidAt = c.unpaidAt(now, payable)
	}
	op.Begin(now, now.Add(c.Runner.Schedule.Lease), now.Add(c.Runner.Schedule.Delay(0)))
	a.Operations = []payment.Operation{op}
	return a, nil
}

// unpaidAt is when a charge that can be paid unseen for so long is over. An expired page gets some more time, because a
// payment may be under way when it expires.
func (c *Commands) unpaidAt(now time.Time, payable time.Duration) *time.Time {
	if payable > 0 {
		payable += payment.GiveUpLeases * c.Runner.Schedule.Lease
	}
	return new(now.Add(payable))
}
