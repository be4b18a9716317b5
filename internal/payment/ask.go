package payment

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// ask learns what it can of an attempt, and carries out its intent where that is
// still safe. No news is the zero value.
func (s *Service) ask(ctx context.Context, p Provider, a Attempt, l Licence) News {
	if a.State.Final() {
		return s.void(ctx, p, a, l)
	}
	if a.ProviderPaymentID == "" {
		news := s.resume(ctx, p, a, l)
		if a.Intent.Kind != IntentCancel || news.ProviderPaymentID == "" {
			return news
		}
		a.ProviderPaymentID = news.ProviderPaymentID
	}
	sent := s.fulfil(ctx, p, a, l)
	if sent.News != "" {
		return sent
	}
	call, cancel := s.calling(ctx, l)
	defer cancel()
	out, err := s.standing(call, p, a)
	if err != nil {
		return News{Unasked: errors.Is(err, ErrHeldBack), Refused: sent.Unfit, Unfit: sent.Unfit}
	}
	if out.Approved && a.Intent.Kind == IntentNone && a.ReadAt.Sub(a.CreatedAt) < approvalLife {
		return s.charge(ctx, p, a, Method{}, l)
	}
	out.Approved = false
	news := newsOf(out, Cause{})
	news.Unfit = sent.Unfit
	// A capture that the provider knows nothing of, long after it could last have
	// been sent, was never made; one that it calls a failure is over.
	none := out.News == fsm.NewsSoftFailed || out.News == fsm.NewsAuthorized && !p.Capabilities().CaptureUnseen
	news.Refused = sent.Unfit || a.Intent.Kind == IntentCapture && none && a.ReadAt.Sub(a.Intent.At) > youth+giveUpLeases*s.opts.Lease
	return news
}

// approvalLife is how long after the attempt was made a payment is finished that
// its customer approved: whoever did can be expected to wait for that, not for
// money to be taken after an outage of hours.
const approvalLife = time.Hour

// fulfil sends the command of the attempt's intent. One that would take money is
// not sent past its youth: then only the lookup tells.
func (s *Service) fulfil(ctx context.Context, p Provider, a Attempt, l Licence) News {
	ctx, cancel := s.calling(ctx, l)
	defer cancel()
	key := intentKey(a.ID, a.Intent)
	if a.Intent.Kind == IntentNone || a.Intent.Kind == IntentCapture && a.ReadAt.Sub(a.Intent.At) > youth {
		return News{}
	}
	var out Outcome
	transactions, err := s.transactions(ctx, p, a)
	switch {
	case err != nil:
	case a.Intent.Kind == IntentCancel:
		out, err = p.Cancel(ctx, Cancel{
			Attempt: a.ID, ProviderPaymentID: a.ProviderPaymentID, IdempotencyKey: key, Licence: l, Quiet: s.quiet(a), Transactions: transactions,
		})
	default:
		out, err = p.Capture(ctx, Capture{
			Attempt: a.ID, ProviderPaymentID: a.ProviderPaymentID, IdempotencyKey: key, Licence: l, Transactions: transactions,
			Money: Money{Minor: a.Intent.Amount, Currency: a.Money.Currency}, Whole: a.Intent.Amount == a.capturable(),
		})
	}
	if err != nil {
		return News{Unasked: errors.Is(err, ErrHeldBack), Unfit: a.Intent.Kind == IntentCapture && errors.Is(err, ErrUnfit) && a.Intent.refusable(p)}
	}
	out.Refused = out.Refused && a.Intent.refusable(p)
	return newsOf(out, Cause{Kind: CauseCall, ID: key})
}

// refusable reports whether a refusal of the call that was just made ends the command. An
// earlier call for the same capture may have been accepted, and not show yet.
func (i Intent) refusable(p Provider) bool {
	can := p.Capabilities()
	return i.Kind != IntentCapture || i.first || !can.Blind && !can.CaptureUnseen
}

// quiet is for how long nothing was sent that could take or hold money: a wish to
// cancel ends that, but for what a licence still allowed then.
func (s *Service) quiet(a Attempt) time.Duration {
	if a.Intent.At.IsZero() {
		return math.MaxInt64 // see seal
	}
	return a.ReadAt.Sub(a.Intent.At) - s.opts.Lease
}

// resume deals with an attempt that the provider has not named: the same call
// again while nobody knows whether the provider got it and that is safe, then a
// look by our reference. Ages are by the database's clock: one that went wrong
// here must not send money.
func (s *Service) resume(ctx context.Context, p Provider, a Attempt, l Licence) News {
	can := p.Capabilities()
	age, sendable := a.ReadAt.Sub(a.CreatedAt), time.Duration(0)
	news := News{News: fsm.NewsUnknown}
	if s.opts.Open != nil {
		sendable = can.sendable()
	}
	if method, ok := s.method(a); ok && age < sendable && a.unheard() && a.Intent.Kind == IntentNone {
		if news = s.charge(ctx, p, a, method, l); news.News != fsm.NewsUnknown {
			return news
		}
	}
	if !can.Find || age < can.FindLag {
		return news
	}
	ctx, cancel := s.calling(ctx, l)
	defer cancel()
	out, err := p.Find(ctx, a.ID)
	switch {
	case err == nil:
		return newsOf(out, Cause{})
	case errors.Is(err, ErrHeldBack):
		news.Unasked = true
	case errors.Is(err, ErrNoSuchPayment) && can.FindConsistent && a.unheard() && age > lastSent(a, sendable)+giveUpLeases*s.opts.Lease:
		return News{News: fsm.NewsFailed, Failure: notStarted(), Inferred: true}
	}
	return news
}

// lastSent is the age at which an attempt could last have been sent: a wish to
// cancel ends that, too.
func lastSent(a Attempt, sendable time.Duration) time.Duration {
	if a.Intent.Kind == IntentCancel {
		return min(sendable, a.Intent.At.Sub(a.CreatedAt))
	}
	return sendable
}

// calling bounds one call: by its own limit, and by what is left of the lease, so
// that all calls of one operation end within it.
func (s *Service) calling(ctx context.Context, l Licence) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, min(s.opts.ProviderTimeout, l.left()))
}
