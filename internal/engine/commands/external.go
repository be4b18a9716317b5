package commands

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
)

// External is the command that registers an external payment: the merchant's own call, or the provider's
// script on its page, begins it.
type External struct {
	OrderID payment.OrderID
	Account string
	// ProviderPaymentID and References are the provider's names of the payment, as far as the caller has them.
	ProviderPaymentID string
	References        []string
	Capture           payment.CaptureMode
	// ExpiresIn is how long the customer has. 0 means a day.
	ExpiresIn  time.Duration
	Amount     *int64
	Currency   *payment.Currency
	Supersedes *payment.AttemptID
}

// expiresIn is the default time that an external payment may take.
const expiresIn = 24 * time.Hour

// Register makes the attempt of an external payment. It has the same contract as a pay, and makes no call to
// the provider. Webhooks, a lookup or a report move the attempt.
func (c *Commands) Register(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd External) (Reply, error) {
	if err := actor.MayAct(); err != nil {
		return Reply{}, err
	}
	if err := actor.Require(payment.RoleService); err != nil {
		return Reply{}, err
	}
	cmd.Account = cmp.Or(cmd.Account, c.DefaultAccount)
	pay := Pay{OrderID: cmd.OrderID, Account: cmd.Account, Capture: cmd.Capture, Amount: cmd.Amount, Currency: cmd.Currency, Supersedes: cmd.Supersedes}
	reply, err := c.payAgain(ctx, actor, req, pay, 0)
	if !errors.Is(err, payment.ErrAttemptNotFound) {
		return reply, err
	}
	if _, ok := c.Runner.Accounts.Find(cmd.Account); !ok {
		return Reply{}, payment.Invalid("account", "name a configured account")
	}
	if err := c.Quota.Take(ctx, c.Store, req); err != nil {
		return Reply{}, err
	}
	p := &payStart{actor: actor, req: req, cmd: pay, bare: pay, elsewhere: &cmd}
	if err := c.startAlone(context.WithoutCancel(ctx), p); err != nil {
		if errors.Is(err, errReplay) {
			return c.payAgain(ctx, actor, req, pay, 0)
		}
		return Reply{}, err
	}
	a, err := c.Store.Attempt(ctx, p.attempt.ID)
	if err != nil {
		return Reply{}, err
	}
	v, err := c.Runner.View(ctx, a)
	return Reply{View: v, Result: idempotency.Created}, err
}

// beginElsewhere makes a new attempt wait for its customer, with a check instead of a charge.
func (c *Commands) beginElsewhere(a *payment.Attempt, cmd External) {
	end := a.CreatedAt.Add(cmp.Or(cmd.ExpiresIn, expiresIn))
	a.ExpiresAt = &end
	op := a.NewOperation(payment.OperationCheck, payment.OperationOriginReconciler, a.CreatedAt)
	op.NextAt = &end
	if first := a.CreatedAt.Add(c.Runner.Schedule.Delay(0)); c.Runner.Reachable(*a) && first.Before(end) {
		op.NextAt = &first
	}
	a.Operations = []payment.Operation{op}
}

// learnNames gives a new attempt the provider's names of an external payment, and applies the events that are
// parked for them.
func (c *Commands) learnNames(ctx context.Context, tx Tx, p *payStart) error {
	if p.elsewhere == nil {
		return nil
	}
	s := changeset.New(tx, c.Runner.Rules)
	p.elsewhere.names().learn(s, s.Change(p.attempt))
	return s.Save(ctx)
}

// names is a report of the names of an external payment.
func (e External) names() Report {
	return Report{ProviderPaymentID: e.ProviderPaymentID, References: e.References}
}

// learn gives an attempt the names of a report, if it has any.
func (r Report) learn(s *changeset.Changeset, change *changeset.Change) {
	if len(r.names("")) > 0 {
		s.Learn(change, r.ProviderPaymentID, r.References, r.cause())
	}
}

// names returns the names of a report, at an account.
func (r Report) names(account string) (names []payment.Reference) {
	for _, name := range append(slices.Clone(r.References), r.ProviderPaymentID) {
		if name != "" {
			names = append(names, payment.Reference{Account: account, Name: name})
		}
	}
	return names
}

// ofOthers refuses a report for an attempt, zero for a new one, if another attempt of the account has any of its names.
func (r Report) ofOthers(ctx context.Context, tx Tx, account string, id payment.AttemptID) error {
	owners, err := tx.ReferencesFind(ctx, r.names(account))
	if err != nil {
		return err
	}
	for ref, owner := range owners {
		switch {
		case owner == id:
		case ref.Name == r.ProviderPaymentID:
			return payment.Invalid("provider_payment_id", "is a payment of another attempt, "+owner.String())
		default:
			return payment.Invalid("references", ref.Name+" belongs to another attempt, "+owner.String())
		}
	}
	return nil
}

// Outcome is the outcome of an external payment, as the merchant's backend reports it.
type Outcome string

const (
	// Abandoned payments were given up by their customer.
	Abandoned Outcome = "abandoned"
	// NotStarted payments never reached the provider.
	NotStarted Outcome = "not_started"
)

// failure is why an attempt with the outcome fails.
func (o Outcome) failure() *payment.Failure {
	if o == NotStarted {
		return payment.NotStarted()
	}
	return payment.NewFailure("canceled", "")
}

// Report is the command of the merchant's backend that reports on an external payment.
type Report struct {
	AttemptID         payment.AttemptID
	ProviderPaymentID string
	References        []string
	// Outcome is empty where only names were learnt; Reason is for people.
	Outcome Outcome
	Reason  string
}

// cause is the cause that the log shows.
func (r Report) cause() payment.Cause {
	return payment.Cause{Kind: payment.CauseReport, ID: cmp.Or(r.Reason, string(r.Outcome), "named")}
}

// Report adds names by which webhooks find the attempt. It also takes the report that the payment is over. Then the
// payment is cancelled at the provider, or fails where no lookup is possible. It returns payment's ErrAttemptFinal for a
// paid attempt, and the errors of Cancel.
func (c *Commands) Report(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd Report) (Reply, error) {
	if err := actor.MayAct(); err != nil {
		return Reply{}, err
	}
	if err := actor.Require(payment.RoleService); err != nil {
		return Reply{}, err
	}
	if err := c.Quota.Take(ctx, c.Store, req); err != nil {
		return Reply{}, err
	}
	ctx = context.WithoutCancel(ctx)
	result := idempotency.Created
	err := idempotency.InTurn(ctx, c.Wait, func() error {
		done, err := c.underKey(ctx, req, idempotency.KeepMoney, func(ctx context.Context, tx Tx, _ idempotency.Record) (*idempotency.Response, error) {
			return operation{attempt: cmd.AttemptID}.response(), c.reportIn(ctx, tx, actor, cmd)
		})
		if done.Replay != nil {
			result = idempotency.Reused
		}
		return err
	})
	if err != nil {
		return Reply{}, err
	}
	v, err := c.asked(ctx, cmd.AttemptID)
	return Reply{View: v, Result: result}, err
}

func (c *Commands) reportIn(ctx context.Context, tx Tx, actor authz.Actor, cmd Report) error {
	a, _, err := tx.AttemptLock(ctx, cmd.AttemptID)
	switch {
	case errors.Is(err, payment.ErrAttemptNotFound):
		return unseen(actor, err)
	case err != nil:
		return err
	case a.UserID != actor.User():
		return payment.ErrForbidden
	case a.Origin != payment.OriginExternal:
		return payment.Invalid("payment_attempt_id", "must be an attempt that was begun outside paylatch")
	case cmd.Outcome != "" && a.Succeeded():
		return idempotency.Refused(payment.ErrAttemptFinal)
	}
	s := changeset.New(tx, c.Runner.Rules)
	change := s.Change(a)
	if err := cmd.ofOthers(ctx, tx, a.Account, a.ID); err != nil {
		return err
	}
	cmd.learn(s, change)
	if cmd.Outcome != "" && !a.State.Final() {
		s.Abandon(change, payment.OperationOriginRequest, cmd.Outcome.failure(), cmd.cause())
	}
	return s.Save(ctx)
}

// asked looks up an external payment, if a lookup is possible, and returns the view of it.
func (c *Commands) asked(ctx context.Context, id payment.AttemptID) (payment.View, error) {
	a, err := c.Store.Attempt(ctx, id)
	if err != nil {
		return payment.View{}, err
	}
	if !a.State.Final() && c.Runner.Reachable(a) {
		v, err := c.Runner.Recheck(ctx, id, payment.Cause{Kind: payment.CauseCheck, ID: "report"})
		if !errors.Is(err, payment.ErrBusy) {
			return v, err
		}
	}
	return c.Runner.View(ctx, a)
}

// supersede abandons the order's live external attempt for a new attempt, which was refused for nothing else.
func (c *Commands) supersede(ctx context.Context, id payment.AttemptID) error {
	err := c.Store.InCommandTx(ctx, func(ctx context.Context, tx Tx) error {
		a, _, err := tx.AttemptLock(ctx, id)
		if err != nil || a.State.Final() {
			return err
		}
		s := changeset.New(tx, c.Runner.Rules)
		s.Abandon(s.Change(a), payment.OperationOriginRequest, Abandoned.failure(), payment.Cause{Kind: payment.CauseReport, ID: "superseded"})
		return s.Save(ctx)
	})
	if err != nil {
		return err
	}
	_, err = c.asked(ctx, id)
	return err
}
