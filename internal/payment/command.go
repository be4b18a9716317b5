package payment

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/internal/idempotency"
)

// intention is a command on an attempt: what is to be asked of the provider.
type intention struct {
	req     idempotency.Request
	attempt AttemptID
	actor   Actor
	// intent says what to ask for, given the attempt and its order as they are, or why
	// not to.
	intent func(a Attempt, o Order) (Intent, error)
	// met says whether an attempt is as the command wants it.
	met func(a Attempt) bool
	// uses says whether a refusal uses up the key.
	uses func(err error) bool
	// unmet is the caller's refusal when the provider refused for good, given the
	// attempt as it was and what the provider says; nil if the attempt as it then is
	// answers the command.
	unmet func(a Attempt, n News) error
}

func (in intention) answer() idempotency.Answer {
	return idempotency.Answer{Status: http.StatusOK, Subject: in.attempt.String()}
}

// command runs an intention once for all its duplicates in this process.
func (s *Service) command(ctx context.Context, actor Actor, req idempotency.Request, in intention) (Reply, error) {
	if err := actor.mayAct(); err != nil {
		return Reply{}, err
	}
	in.actor, in.req = actor, req
	reply, shared, err := s.commands.Do(ctx, req, s.opts.Wait, func() (Reply, error) {
		return s.carryOut(context.WithoutCancel(ctx), in)
	})
	if shared {
		reply.Result, reply.TookOver = idempotency.Reused, false
	}
	return reply, err
}

// carryOut puts an intention on disk, asks the provider, and stores what came of
// it: the same two commits as a pay, with the attempt in the order's place.
func (s *Service) carryOut(ctx context.Context, in intention) (Reply, error) {
	if err := s.opts.Quota.Take(ctx, s.store, in.req); err != nil {
		return Reply{}, err
	}
	var licence Licence
	var a Attempt
	var rec idempotency.Record
	var done bool
	err := s.inTurn(func() (err error) {
		licence = s.licence()
		a, rec, done, err = s.intend(ctx, in)
		return err
	})
	if err != nil {
		return Reply{}, err
	}
	if done {
		v, err := s.show(ctx, a)
		return Reply{View: v, Result: idempotency.Reused}, err
	}
	news := s.ask(ctx, s.opts.Accounts[a.Account].Provider, a, licence)
	if news.Cause.Kind != CauseCall {
		news.Cause = Cause{Kind: CauseCheck, ID: string(a.Intent.Kind)}
	}
	var unmet error
	if news.Refused && !a.Intent.endedBy(news.News) {
		unmet = in.unmet(a, news)
		news.Answered = unmet != nil
	}
	result := idempotency.Created
	conclude := func() (View, error) {
		return s.settle(ctx, a, news, func(ctx context.Context, tx Tx) error { return in.conclude(ctx, tx, rec, unmet) })
	}
	v, err := conclude()
	if errors.Is(err, errOvertaken) {
		news, unmet = news.overtaken(), stands(unmet)
		v, err = conclude()
	}
	if errors.Is(err, idempotency.ErrFenced) {
		// The answer is another runner's by now; what the provider said is a fact.
		result = idempotency.Reused
		news, unmet = news.overtaken(), stands(unmet)
		v, err = s.settle(ctx, a, news)
	}
	if err == nil && unmet != nil {
		if !in.uses(unmet) {
			err = s.store.KeyRelease(ctx, in.req, rec.Fence)
		}
		return Reply{}, errors.Join(unmet, err)
	}
	return Reply{View: v, Result: result, TookOver: rec.TakenOver && result == idempotency.Created}, err
}

// stands is what is left of a caller's refusal when the runner was overtaken: that the
// payment was made is how it stands, whoever asked.
func stands(unmet error) error {
	if errors.Is(unmet, ErrAttemptFinal) {
		return unmet
	}
	return nil
}

// conclude answers the key, unless it was refused what it may ask for again.
func (in intention) conclude(ctx context.Context, tx Tx, rec idempotency.Record, unmet error) error {
	switch {
	case unmet == nil:
		return tx.KeyAnswer(ctx, in.req, rec.Fence, in.answer(), idempotency.KeepMoney)
	case in.uses(unmet):
		return refuse(ctx, tx, in.req, rec, unmet)
	}
	return nil
}

// inTurn tries again while the runner of the same request in another process has
// the key, for as long as a duplicate waits.
func (s *Service) inTurn(try func() error) error {
	over := time.NewTimer(s.opts.Wait)
	defer over.Stop()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := try()
		if !errors.Is(err, idempotency.ErrInProgress) {
			return err
		}
		select {
		case <-over.C:
			return err
		case <-tick.C:
		}
	}
}

// intend is commit 1 of an intention. It reports done for a replay.
func (s *Service) intend(ctx context.Context, in intention) (a Attempt, rec idempotency.Record, done bool, err error) {
	err = s.underKey(ctx, in.req, func(ctx context.Context, tx Tx) (err error) {
		done = false
		var answer *idempotency.Answer
		if answer, rec, err = s.takeKey(ctx, tx, in.req, idempotency.KeepMoney); err != nil {
			return err
		}
		var o Order
		a, o, err = tx.AttemptLockBeside(ctx, in.attempt)
		switch {
		case errors.Is(err, ErrAttemptNotFound):
			return in.actor.unseenUnder(rec, err)
		case err != nil:
			return err
		case a.UserID != in.actor.User():
			return ErrForbidden
		}
		if done = answer != nil; done {
			return nil
		}
		// The reconciler may have finished what a dead runner began.
		if done = rec.TakenOver && in.met(a); done {
			return tx.KeyAnswer(ctx, in.req, rec.Fence, in.answer(), idempotency.KeepMoney)
		}
		return s.mark(ctx, tx, &a, o, rec, in)
	})
	return a, rec, done, err
}

// mark writes the intent and takes the attempt's fence. A command that is taken
// over from a dead runner finds its own intent there.
func (s *Service) mark(ctx context.Context, tx Tx, a *Attempt, o Order, rec idempotency.Record, in intention) error {
	intent, err := in.intent(*a, o)
	withheld := errors.Is(err, ErrOrderPaid) || errors.Is(err, ErrOrderCancelled)
	if a.leased(tx.Now()) && !withheld { // waiting would not lift that
		return ErrBusy
	}
	if err := s.callable(*a); err != nil {
		return err
	}
	switch {
	case err != nil && in.uses(err):
		return &refusal{err, rec}
	case err != nil:
		return err
	case a.Intent.Kind == IntentNone:
		setIntent(a, intent, tx.Now())
		a.Intent.first = true
	case a.Intent.Kind != intent.Kind || intent.Kind == IntentCapture && (!rec.TakenOver || a.Intent.Amount != intent.Amount):
		return ErrBusy
	}
	return s.lease(ctx, tx, a, o)
}

// callable refuses a command on an attempt whose provider can't be called.
func (s *Service) callable(a Attempt) error {
	if account, ok := s.account(a.Account); !ok || account.Provider == nil {
		return invalid("account", "the account of this attempt is not configured any more")
	}
	return nil
}
