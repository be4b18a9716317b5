package payment

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// ask learns what it can of an attempt, and carries out its intent where that is
// still safe. No news is the zero value.
func (s *Service) ask(ctx context.Context, p Provider, a Attempt, l Licence) News {
	if a.ProviderPaymentID == "" {
		news := s.resume(ctx, p, a, l)
		if a.Intent.Kind != IntentCancel || news.ProviderPaymentID == "" {
			return news
		}
		a.ProviderPaymentID = news.ProviderPaymentID
	}
	if news := s.fulfil(ctx, p, a, l); news.News != "" {
		return news
	}
	call, cancel := context.WithTimeout(ctx, s.opts.ProviderTimeout)
	defer cancel()
	out, err := p.Lookup(call, a.ProviderPaymentID)
	if err != nil {
		return News{}
	}
	if out.Approved && a.Intent.Kind == IntentNone && a.ReadAt.Sub(a.CreatedAt) < approvalLife {
		return s.charge(ctx, p, a, "", l)
	}
	out.Approved = false
	news := newsOf(out, Cause{})
	// A capture that the provider knows nothing of, long after it could last have
	// been sent, was never made.
	news.Refused = a.Intent.Kind == IntentCapture && out.News == fsm.NewsAuthorized &&
		a.ReadAt.Sub(a.Intent.At) > youth+giveUpLeases*s.opts.Lease
	return news
}

// approvalLife is how long after the attempt was made a payment is finished that
// its customer approved: whoever did can be expected to wait for that, not for
// money to be taken after an outage of hours.
const approvalLife = time.Hour

// fulfil sends the command of the attempt's intent. One that would take money is
// not sent past its youth: then only the lookup tells.
func (s *Service) fulfil(ctx context.Context, p Provider, a Attempt, l Licence) News {
	ctx, cancel := context.WithTimeout(ctx, s.opts.ProviderTimeout)
	defer cancel()
	key := intentKey(a.ID, a.Intent)
	var out Outcome
	var err error
	switch a.Intent.Kind {
	case IntentCancel:
		out, err = p.Cancel(ctx, Cancel{Attempt: a.ID, ProviderPaymentID: a.ProviderPaymentID, IdempotencyKey: key, Licence: l})
	case IntentCapture:
		if a.ReadAt.Sub(a.Intent.At) > youth {
			return News{}
		}
		out, err = p.Capture(ctx, Capture{
			Attempt: a.ID, ProviderPaymentID: a.ProviderPaymentID, IdempotencyKey: key, Licence: l,
			Money: Money{Minor: a.Intent.Amount, Currency: a.Money.Currency}, Whole: a.Intent.Amount == a.Authorized,
		})
	case IntentNone:
		return News{}
	}
	if err != nil {
		return News{}
	}
	return newsOf(out, Cause{Kind: CauseCall, ID: key})
}

// resume deals with an attempt that the provider has not named: the same call
// again while nobody knows whether the provider got it and that is safe, then a
// look by our reference. Ages are by the database's clock: one that went wrong
// here must not send money.
func (s *Service) resume(ctx context.Context, p Provider, a Attempt, l Licence) News {
	can := p.Capabilities()
	age, sendable := a.ReadAt.Sub(a.CreatedAt), time.Duration(0)
	news := News{News: fsm.NewsUnknown}
	if len(a.SealedToken) > 0 {
		sendable = min(youth, can.KeyLife)
	}
	if token, ok := s.token(a); ok && age < sendable && a.unheard() && a.Intent.Kind == IntentNone {
		if news = s.charge(ctx, p, a, token, l); news.News != fsm.NewsUnknown {
			return news
		}
	}
	if !can.Find || age < can.FindLag {
		return news
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.ProviderTimeout)
	defer cancel()
	out, err := p.Find(ctx, a.ID)
	switch {
	case err == nil:
		return newsOf(out, Cause{})
	case errors.Is(err, ErrNoSuchPayment) && can.FindConsistent && a.unheard() && age > sendable+giveUpLeases*s.opts.Lease:
		return News{News: fsm.NewsFailed, Failure: notStarted(), Inferred: true}
	}
	return news
}

// token is what a charge needs to be sent again.
func (s *Service) token(a Attempt) (string, bool) {
	if len(a.SealedToken) == 0 || s.opts.Open == nil {
		return "", false
	}
	token, err := s.opts.Open(a.SealedToken, a.ID)
	return token, err == nil
}
