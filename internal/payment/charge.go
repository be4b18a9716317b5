package payment

import (
	"context"
	"encoding/hex"
	"errors"
	"strconv"

	"github.com/paylatch/paylatch/fsm"
)

// The provider's idempotency keys are made of our ids, never of the client's
// key, and are 45 characters at most (Square's limit).

func payKey(id AttemptID) string { return hex.EncodeToString(id[:]) + "-pay" }

func intentKey(id AttemptID, i Intent) string {
	return hex.EncodeToString(id[:]) + "-" + string(i.Kind) + "-" + strconv.Itoa(i.Number)
}

// charge sends the payment, for the first time or again, and returns what is
// known afterwards. It never returns nothing: not knowing is news too.
func (s *Service) charge(ctx context.Context, p Provider, a Attempt, m Method, l Licence) News {
	call, cancel := s.calling(ctx, l)
	defer cancel()
	key := payKey(a.ID)
	out, err := p.Charge(call, Charge{
		Attempt: a.ID, Order: a.OrderID, Money: a.Money, Capture: a.Capture, ReturnURL: a.ReturnURL,
		Token: m.Token, MethodType: m.Type, Stored: m.Stored, Customer: m.Customer,
		IdempotencyKey: key, Licence: l, ProviderPaymentID: a.ProviderPaymentID,
	})
	cause := Cause{Kind: CauseCall, ID: key}
	switch {
	case err == nil && out.refusesCall() && a.Fence > 1:
		return News{News: fsm.NewsUnknown, Cause: cause} // an earlier call may have been accepted
	case err == nil && out.refusesCall():
		news := newsOf(out, cause)
		news.Inferred = true
		return news
	case err == nil && out.News == fsm.NewsSoftFailed:
		return s.seal(ctx, p, a, newsOf(out, cause), l)
	case err == nil:
		return newsOf(out, cause)
	case a.Fence == 1 && (errors.Is(err, ErrNotSent) || errors.Is(err, ErrLicenceEnded)):
		return News{News: fsm.NewsFailed, Failure: notStarted(), Inferred: true, Cause: cause}
	}
	return News{News: fsm.NewsUnknown, Unasked: errors.Is(err, ErrHeldBack), Cause: cause}
}

// seal cancels at the provider what was declined and could still succeed there,
// so that the person hears of the decline at once. If that does not go through,
// the reconciler goes on with it. The decline was the answer to all that was sent:
// the intent has no time, as if it had been quiet for ever.
func (s *Service) seal(ctx context.Context, p Provider, a Attempt, declined News, l Licence) News {
	if declined.ProviderPaymentID == "" {
		return declined
	}
	a.ProviderPaymentID, a.Intent = declined.ProviderPaymentID, Intent{Kind: IntentCancel, Number: a.Intent.Number}
	sealed := s.fulfil(ctx, p, a, l)
	if sealed.News != fsm.NewsFailed {
		return declined
	}
	sealed.Failure = declined.Failure
	return sealed
}

// refusesCall reports whether the answer to a charge speaks of that one call only, and
// not of a payment: another call with the same key may be accepted. A decline that names
// its payment is how that payment stands.
func (o Outcome) refusesCall() bool {
	declined := o.News == fsm.NewsFailed || o.News == fsm.NewsSoftFailed
	return o.Refused || declined && o.ProviderPaymentID == ""
}

func newsOf(o Outcome, c Cause) News {
	return News{
		News: o.News, ProviderPaymentID: o.ProviderPaymentID, Names: o.References, Money: o.Money,
		NextActionURL: o.NextActionURL, Failure: o.Failure, Refused: o.Refused, Undoes: o.Undoes, Approved: o.Approved, Movements: o.Movements, Saved: o.Saved, Cause: c,
	}
}

func notStarted() *Failure { return NewFailure("not_started", "") }
