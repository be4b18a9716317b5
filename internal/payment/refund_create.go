package payment

import (
	"context"
	"errors"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
)

// CreateRefund is the command. Without an Amount all that is left is refunded.
type CreateRefund struct {
	AttemptID AttemptID
	Amount    *int64
	Reason    string
	// Expected is how much the caller believes is left, in minor units.
	Expected *int64
}

// Refunded is the answer to a refund.
type Refunded struct {
	Refund
	Result idempotency.Result
}

// Refund pays money back, whatever the attempt's status: one refund for each
// (attempt, user, request), for ever. It returns ErrNotRefundable,
// ErrRefundExceeds, ErrRefundableChanged, ErrForbidden, ErrAttemptNotFound, and
// the errors of idempotency.Take.
func (s *Service) Refund(ctx context.Context, actor Actor, req idempotency.Request, cmd CreateRefund) (Refunded, error) {
	if err := actor.mayRefund(); err != nil {
		return Refunded{}, err
	}
	done, shared, err := s.refunds.Do(ctx, req, s.opts.Wait, func() (Refunded, error) {
		return s.refund(context.WithoutCancel(ctx), actor, req, cmd)
	})
	if shared {
		done.Result = idempotency.Reused
	}
	return done, err
}

func (s *Service) refund(ctx context.Context, actor Actor, req idempotency.Request, cmd CreateRefund) (Refunded, error) {
	again, err := s.store.RefundByRequest(ctx, cmd.AttemptID, UserID(req.User), RequestID(req.Key))
	switch {
	case err == nil && again.RequestHash != req.Hash:
		return Refunded{}, idempotency.ErrKeyReused
	case err == nil:
		return s.refundAgain(ctx, again)
	case !errors.Is(err, ErrRefundNotFound):
		return Refunded{}, err
	}
	if err := s.opts.Quota.Take(ctx, s.store, req); err != nil {
		return Refunded{}, err
	}
	licence := s.licence()
	a, r, err := s.beginRefund(ctx, actor, req, cmd)
	if errors.Is(err, errAgain) {
		return s.refund(ctx, actor, req, cmd)
	}
	if err != nil {
		return Refunded{}, err
	}
	r, err = s.settleRefund(ctx, r, s.sendRefund(ctx, a, r, licence))
	return Refunded{r, idempotency.Created}, err
}

// beginRefund is commit 1 of a refund: under the attempt's lock pending refunds
// count, so two can't take the same money.
func (s *Service) beginRefund(ctx context.Context, actor Actor, req idempotency.Request, cmd CreateRefund) (a Attempt, r Refund, err error) {
	err = s.underKey(ctx, req, func(ctx context.Context, tx Tx) error {
		answer, rec, err := s.takeKey(ctx, tx, req, idempotency.KeepMoney)
		switch {
		case err != nil:
			return err
		case answer != nil:
			return errAgain
		}
		a, err = tx.AttemptLock(ctx, cmd.AttemptID)
		switch {
		case errors.Is(err, ErrAttemptNotFound):
			return &refusal{err, rec}
		case err != nil:
			return err
		}
		if err := s.checkRefund(actor, a); err != nil {
			return err
		}
		r, err = s.makeRefund(ctx, tx, a, req, cmd)
		switch {
		case errors.Is(err, ErrRefundExceeds):
			return &refusal{err, rec}
		case err != nil:
			return err
		}
		return tx.KeyAnswer(ctx, req, rec.Fence, idempotency.Answer{Status: http.StatusCreated, Subject: r.ID.String()}, idempotency.KeepMoney)
	})
	return a, r, err
}

// makeRefund inserts the refund that a command asks for, its lease taken.
func (s *Service) makeRefund(ctx context.Context, tx Tx, a Attempt, req idempotency.Request, cmd CreateRefund) (Refund, error) {
	b := s.newBatch(tx)
	if err := b.loadRefunds(ctx, a.ID); err != nil {
		return Refund{}, err
	}
	money, err := refundOf(a, b.refunds[a.ID], cmd)
	if err != nil {
		return Refund{}, err
	}
	r := newRefund(a, RefundByRequest, money, tx.Now())
	end := tx.Now().Add(s.opts.Lease)
	r.UserID, r.RequestID, r.RequestHash = UserID(req.User), RequestID(req.Key), req.Hash
	r.Reason, r.LeaseUntil, r.NextCheckAt = cmd.Reason, &end, &end
	b.insertRefund(r)
	return *r, b.saveRefunds(ctx)
}

// checkRefund refuses a refund of another's attempt, or one that nobody can send.
func (s *Service) checkRefund(actor Actor, a Attempt) error {
	if err := actor.mayRefundOf(a.UserID); err != nil {
		return err
	}
	return s.callable(a)
}

// refundOf is how much a command refunds.
func refundOf(a Attempt, refunds []*Refund, cmd CreateRefund) (Money, error) {
	if a.Held() == 0 || a.ProviderPaymentID == "" {
		return Money{}, ErrNotRefundable
	}
	left := refundable(a, refunds)
	if cmd.Expected != nil && *cmd.Expected != left {
		return Money{}, ErrRefundableChanged
	}
	amount := left
	if cmd.Amount != nil {
		amount = *cmd.Amount
	}
	if amount > left || amount <= 0 {
		return Money{}, ErrRefundExceeds
	}
	return Money{Minor: amount, Currency: a.Money.Currency}, nil
}

// sendRefund asks the provider for the refund; it always returns news.
func (s *Service) sendRefund(ctx context.Context, a Attempt, r Refund, l Licence) RefundNews {
	key := refundKey(r.ID)
	cause := Cause{Kind: CauseCall, ID: key}
	account, ok := s.account(a.Account)
	if !ok || account.Provider == nil {
		return RefundNews{News: fsm.NewsUnknown, Cause: cause}
	}
	ctx, cancel := s.calling(ctx, l)
	defer cancel()
	var out RefundOutcome
	transactions, err := s.transactions(ctx, account.Provider, a)
	if err == nil {
		out, err = account.Provider.Refund(ctx, RefundCall{
			Refund: r.ID, Attempt: a.ID, ProviderPaymentID: a.ProviderPaymentID, Money: r.Money, Reason: r.Reason,
			Left: Money{a.Held(), a.Money.Currency}, IdempotencyKey: key, Licence: l, Transactions: transactions,
		})
	}
	switch {
	case err == nil && out.refusesCall() && !r.unsent():
		return RefundNews{News: fsm.NewsUnknown, Cause: cause} // an earlier call may have been accepted
	case err == nil:
		news := refundNewsOf(out, cause)
		news.Inferred = out.refusesCall()
		return news
	case r.neverSent(account.Provider, err):
		return RefundNews{News: fsm.NewsFailed, Inferred: true, Cause: cause, Failure: refundNotStarted()}
	}
	return RefundNews{News: fsm.NewsUnknown, Unasked: errors.Is(err, ErrHeldBack), Cause: cause}
}

// refusesCall is as that of Outcome.
func (o RefundOutcome) refusesCall() bool {
	return o.Refused || o.News == fsm.NewsFailed && o.ProviderRefundID == ""
}

func refundNotStarted() *Failure {
	return &Failure{Code: "not_started", Message: "The refund never reached the payment provider. Nothing was paid back."}
}

func refundNewsOf(o RefundOutcome, c Cause) RefundNews {
	return RefundNews{News: o.News, ProviderRefundID: o.ProviderRefundID, Money: o.Money, Failure: o.Failure, Unnamed: o.Unnamed, Cause: c}
}
