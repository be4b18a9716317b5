package payment

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
)

// errAgain says that the same request made its attempt a moment ago.
var errAgain = errors.New("the same request came before")

// beginning is one call of begin. One that is left must be done alone.
type beginning struct {
	actor   Actor
	user    UserID
	req     idempotency.Request
	cmd     Pay
	method  Method
	attempt Attempt
	err     error
	left    bool
}

// begin is commit 1: what is about to be done is on disk before anybody is
// asked to do it. Pays that come at the same time share a transaction, if there is
// nothing about them that must be waited for or looked at twice.
func (s *Service) begin(ctx context.Context, actor Actor, req idempotency.Request, cmd Pay, m Method) (Attempt, error) {
	b := &beginning{actor: actor, user: actor.User(), req: req, cmd: cmd, method: m}
	err := s.begins.Do(context.WithoutCancel(ctx), b)
	if b.left || err != nil && b.err == nil {
		b.err = s.beginAlone(ctx, b)
	}
	return b.attempt, b.err
}

// beginAll begins the first pays of orders that nobody else has locked.
func (s *Service) beginAll(ctx context.Context, pays []*beginning) error {
	counted := s.countKeys(ctx, pays)
	if len(counted) == 0 {
		return nil
	}
	return s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		begun, err := s.beginIn(ctx, tx, counted)
		if err != nil || len(begun) == 0 {
			return err
		}
		return insert(ctx, tx, begun)
	})
}

// beginIn makes the attempts of those pays that are the first of a free order.
func (s *Service) beginIn(ctx context.Context, tx Tx, pays []*beginning) (begun []*beginning, err error) {
	keys, ids := make([]idempotency.Request, len(pays)), make([]OrderID, len(pays))
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
		p.left = seen || !free || len(order.Attempts) > 0 || checkPay(order, p.user, p.req, p.cmd) != nil || order.TakesPay() != nil
		if p.left {
			continue
		}
		if p.attempt, err = s.newAttempt(tx.Now(), order, p.req, p.cmd, p.method); err != nil {
			return nil, err
		}
		begun = append(begun, p)
		// The next pay of this order finds it taken.
		delete(orders, order.ID)
	}
	return begun, nil
}

// countKeys counts the new keys of pays and returns those that are not one too
// many.
func (s *Service) countKeys(ctx context.Context, pays []*beginning) []*beginning {
	keys := make([]idempotency.Request, len(pays))
	for i, p := range pays {
		keys[i] = p.req
	}
	refused, err := s.opts.Quota.TakeAll(ctx, s.store, keys)
	var counted []*beginning
	for i, p := range pays {
		switch {
		case err != nil:
			p.err, p.left = err, false
		case refused[i] != nil:
			p.err, p.left = refused[i], false
		default:
			counted = append(counted, p)
		}
	}
	return counted
}

// insert writes new attempts, each as the answer to its key.
func insert(ctx context.Context, tx Tx, begun []*beginning) error {
	attempts, answers := make([]Attempt, len(begun)), make([]idempotency.Stored, len(begun))
	for i, p := range begun {
		attempts[i] = p.attempt
		answers[i] = idempotency.Stored{
			Request: p.req, Keep: idempotency.KeepMoney,
			Answer: idempotency.Answer{Status: http.StatusCreated, Subject: p.attempt.ID.String()},
		}
	}
	if err := tx.KeysStore(ctx, answers); err != nil {
		return err
	}
	return tx.AttemptsInsert(ctx, attempts)
}

// beginAlone begins one pay, whatever there is to be said about it. The order is
// locked before the key, as in a shared transaction: a pay's key is of one order.
func (s *Service) beginAlone(ctx context.Context, p *beginning) error {
	return s.underKey(ctx, p.req, func(ctx context.Context, tx Tx) error {
		order, missing := tx.OrderLock(ctx, p.cmd.OrderID)
		if missing != nil && !errors.Is(missing, ErrOrderNotFound) {
			return missing
		}
		answer, rec, err := s.takeKey(ctx, tx, p.req, idempotency.KeepMoney)
		switch {
		case err != nil:
			return err
		case answer != nil:
			return errAgain
		case missing != nil:
			return p.actor.unseenUnder(rec, missing)
		}
		if err := checkPay(order, p.user, p.req, p.cmd); err != nil {
			return err
		}
		switch err := order.TakesPay(); {
		case errors.Is(err, ErrOrderPaid), errors.Is(err, ErrOrderCancelled):
			return &refusal{err, rec}
		case err != nil:
			return err
		}
		if p.attempt, err = s.newAttempt(tx.Now(), order, p.req, p.cmd, p.method); err != nil {
			return err
		}
		if err := tx.AttemptsInsert(ctx, []Attempt{p.attempt}); err != nil {
			return err
		}
		return tx.KeyAnswer(ctx, p.req, rec.Fence, idempotency.Answer{Status: http.StatusCreated, Subject: p.attempt.ID.String()}, idempotency.KeepMoney)
	})
}

// checkPay refuses a command that does not fit its order, or that came before.
func checkPay(o Order, user UserID, req idempotency.Request, cmd Pay) error {
	if o.UserID != user {
		return ErrForbidden
	}
	for _, a := range o.Attempts {
		if a.UserID == user && a.RequestID == RequestID(req.Key) {
			return errAgain
		}
	}
	if cmd.Amount != nil && *cmd.Amount != o.Money.Minor {
		return invalid("amount", fmt.Sprintf("must be the order's amount, %d, or be left out", o.Money.Minor))
	}
	if cmd.Currency != nil && *cmd.Currency != o.Money.Currency {
		return invalid("currency", fmt.Sprintf("must be the order's currency, %s, or be left out", o.Money.Currency))
	}
	return nil
}

func (s *Service) newAttempt(now time.Time, o Order, req idempotency.Request, cmd Pay, m Method) (Attempt, error) {
	end := now.Add(s.opts.Lease)
	a := Attempt{
		ID: AttemptID(uuid.Must(uuid.NewV7())), OrderID: o.ID, UserID: o.UserID,
		RequestID: RequestID(req.Key), RequestHash: req.Hash,
		Account: cmd.Account, State: fsm.Requested, Money: o.Money, Capture: cmd.Capture, ReturnURL: cmd.ReturnURL,
		Version: 1, Fence: 1, LeaseUntil: &end, NextCheckAt: &end, CreatedAt: now, UpdatedAt: now,
	}
	var err error
	a.SealedToken, err = s.sealMethod(m, a.ID)
	return a, err
}
