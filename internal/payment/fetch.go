package payment

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

// fetched is what a provider says when it is asked about what an event names: the
// refund, if the event is about one that it can be asked for, or else the payment.
type fetched struct {
	payment Outcome
	refund  *RefundOutcome
}

// fetch asks the provider about an event that says too little by itself, outside
// a transaction; nil if there is nothing to ask, or no answer, with why.
func (s *Service) fetch(ctx context.Context, r Received) (*fetched, error) {
	if !s.canAsk(r) {
		return nil, nil
	}
	e, p := r.Event, s.opts.Accounts[r.Account].Provider
	ctx, cancel := context.WithTimeout(ctx, s.opts.ProviderTimeout)
	defer cancel()
	var f fetched
	var err error
	if _, ok := newsByRefundKind[e.Kind]; ok && e.RefundID != "" && p.Capabilities().LookupRefund {
		f.refund = new(RefundOutcome)
		ref := RefundRef{ProviderRefundID: e.RefundID, ProviderPaymentID: e.ProviderPaymentID}
		if !hint(e) {
			// The provider knew of the refund when it told of it, if it was the provider.
			ref.Age = max(0, s.now().Sub(r.At))
		}
		*f.refund, err = p.LookupRefund(ctx, ref)
	} else {
		f.payment, err = p.Lookup(ctx, e.ProviderPaymentID)
	}
	if err != nil {
		return nil, err
	}
	return &f, nil
}

// canAsk reports whether there is somebody to ask about an event, and something.
func (s *Service) canAsk(r Received) bool {
	return r.Event.NeedsFetch && r.Event.ProviderPaymentID != "" && s.opts.Accounts[r.Account].Provider != nil
}

// unsignedTries is how often an event that nobody signed is fetched, in half a
// minute, until it is believed that its provider does not know the payment. One
// that is very new may not show yet.
const unsignedTries = 5

// Fetch asks the provider about a parked event that says too little by itself, and
// applies the answer as its news. The same state fetched again is a repeat, so a
// notice that comes twice moves nothing twice. An answer that may be behind the notice
// is asked for again, five times in the notice's first ten minutes: one that does not
// agree with how the notice says that the payment stands; to a notice that says nothing,
// that the payment still waits, or nothing new, unless the attempt has changed in the
// five minutes before. An answer that would end a payment of which the notice says that
// it was paid or is held counts only after that, and a person is told. What gets no answer is tried again,
// unless anybody may have made it up: then it is ignored after a few tries if the
// provider does not know what it names. A question that was held back is no try.
func (s *Service) Fetch(ctx context.Context, e StoredEvent) error {
	f, err := s.fetch(ctx, e.Received)
	asked := err != nil && !errors.Is(err, ErrHeldBack) && ctx.Err() == nil
	switch {
	case f != nil:
		return s.settleFetched(ctx, e.ID, f)
	case asked:
		return s.unanswered(ctx, e.ID, errors.Is(err, ErrNoSuchPayment))
	}
	return nil
}

// unanswered counts a try that got no answer, or none but that there is no such payment.
func (s *Service) unanswered(ctx context.Context, id EventID, noSuch bool) error {
	return s.inBatch(ctx, func(ctx context.Context, b *batch) error {
		e, err := b.tx.EventLock(ctx, id)
		if err != nil || e.NextTryAt == nil {
			return err
		}
		e.Tries++
		switch {
		case noSuch && e.Event.SecretIndex < 0 && e.Tries >= unsignedTries:
			e.Verdict, e.NextTryAt = Ignored, nil
		case e.NextTryAt.After(b.now()): // else somebody has made it due, with a name for it
			e.park(e.Verdict, b.now())
		}
		b.review(&e)
		if err := b.tx.EventsSettle(ctx, []StoredEvent{e}); err != nil {
			return err
		}
		return b.save(ctx)
	})
}

func (s *Service) settleFetched(ctx context.Context, id EventID, f *fetched) error {
	var unknown []*arrival
	var ours *StoredEvent
	err := s.inBatch(ctx, func(ctx context.Context, b *batch) error {
		unknown, ours = nil, nil
		e, err := b.tx.EventLock(ctx, id)
		if err != nil || e.NextTryAt == nil {
			return err
		}
		found, named, err := b.subject(ctx, e.Received, f)
		if err != nil {
			return err
		}
		e.Tries++
		switch a := found.first(named); {
		case a != nil:
			b.applyFetched(b.change(*a), &e, f)
			ours = &e
		case found.has(e.Account, named.names()):
			e.again(b.now())
		default:
			e.park(Unmatched, b.now())
			unknown = []*arrival{named}
		}
		b.review(&e)
		if err := b.tx.EventsSettle(ctx, []StoredEvent{e}); err != nil {
			return err
		}
		return b.save(ctx)
	})
	s.missed.add(unknown, s.now())
	if err == nil && ours != nil {
		s.heard.from(ours.Account, ours.At)
	}
	return err
}

// hint reports whether nobody has signed all that an event says.
func hint(e webhooks.Event) bool { return e.SecretIndex < 0 || e.DeliveryID != "" }

// names are those of the payment that an event was fetched for. A hint names nothing
// by itself: else it could give somebody's payment to another attempt.
func (f *fetched) names(e webhooks.Event) []string {
	if !hint(e) {
		return slices.Concat(e.References, f.payment.References)
	}
	names := []string{e.ProviderPaymentID}
	if id := f.payment.ProviderPaymentID; id != "" && id != e.ProviderPaymentID {
		names = append(names, id)
	}
	return append(names, f.payment.References...)
}

// subject looks for the attempt that an event names, or what was fetched for it,
// with the refunds if it is about one. It returns the event with all those names.
func (b *batch) subject(ctx context.Context, r Received, f *fetched) (found, *arrival, error) {
	if f != nil {
		r.Event.References = f.names(r.Event)
	}
	named := &arrival{Received: r}
	found, err := b.find(ctx, []*arrival{named})
	if err != nil {
		return nil, nil, err
	}
	if err := b.load(ctx, found, []*arrival{named}); err != nil {
		return nil, nil, err
	}
	if a := found.first(named); a != nil && f != nil {
		err = b.loadToldMovements(ctx, *a, newsOf(f.payment, Cause{}))
	}
	return found, named, err
}

// first is the attempt that an event names, nil if there is none or somebody
// else has it locked.
func (f found) first(e *arrival) *Attempt {
	for _, name := range e.names() {
		if a := f[Reference{e.Account, name}]; a != nil {
			return a
		}
	}
	return nil
}

// applyFetched applies what the provider said in the place of what the event says.
func (b *batch) applyFetched(c *Change, e *StoredEvent, f *fetched) {
	switch said := e.Event; {
	case f.refund != nil:
		b.applyFetchedRefund(c, e, *f.refund)
		return
	case said.DeliveryID != "" && slices.Contains(unasked, said.Kind):
		// The provider's API does not tell it of a payment: what was found out is which one.
		e.Event.NeedsFetch, e.Event.References = false, f.names(said)
		b.apply(c, e)
		e.Event = said
		return
	}
	b.applyAnswer(c, e, f)
}

// unasked are the kinds that a lookup of the payment does not tell.
var unasked = []webhooks.Kind{ //nolint:gochecknoglobals // a list
	webhooks.KindDisputed, webhooks.KindReversed, webhooks.KindChargeback, webhooks.KindChargebackReversed,
}

// applyFetchedRefund applies a refund as if the event itself had told all of it.
func (b *batch) applyFetchedRefund(c *Change, e *StoredEvent, o RefundOutcome) {
	if at, early := e.asksAgain(b.now()); early && e.Event.Kind == webhooks.KindRefundFailed && o.News == fsm.NewsSucceeded {
		e.wait(at) // the answer may be behind the notice, and nobody would ask again
		return
	}
	said := e.Event
	e.Event.Kind, e.Event.RefundID = refundKind(o.News), cmp.Or(o.ProviderRefundID, said.RefundID)
	e.Event.Money, e.Event.Amount, e.Event.FailureCode, e.Event.ProviderCode = nil, "", "", ""
	if hint(e.Event) || o.Reference != "" {
		e.Event.RefundReference = o.Reference
	}
	if o.Money != nil {
		money := o.Money.Wire()
		e.Event.Money = &money
	}
	if o.Failure != nil {
		e.Event.FailureCode, e.Event.ProviderCode = o.Failure.Code, o.Failure.ProviderCode
	}
	b.applyRefund(c, e)
	e.Event = said
}

// refundKind is the kind of an event that tells news of a refund.
func refundKind(n fsm.News) webhooks.Kind {
	for kind, news := range newsByRefundKind {
		if news == n {
			return kind
		}
	}
	return webhooks.KindRefundPending
}

// noticeDelay is how long after a refund its notice may come.
const noticeDelay = 5 * time.Minute

// heardOfRefund is what is made of a notice of a refund that the provider can't be
// asked about. That all was paid back is plain if the provider signed it. Of less
// nobody knows how much: a person is asked, unless all is known or it may be the
// notice of a refund that is known.
func (b *batch) heardOfRefund(c *Change, e *StoredEvent) {
	a := &c.Attempt
	known := slices.ContainsFunc(b.refunds[a.ID], func(r *Refund) bool {
		return r.State == fsm.RefundPending || r.paidBack() && e.At.Sub(r.UpdatedAt) < noticeDelay
	})
	signed := !hint(e.Event) && e.Event.RefundID == "" && e.Event.Kind == webhooks.KindRefundSucceeded
	money := moneyOf(e.Event)
	switch {
	case e.Event.Kind == webhooks.KindRefundPending, known, a.Captured > 0 && a.Refunded == a.Captured:
	case a.Captured > 0 && signed && money != nil && *money == Money{a.Captured, a.Money.Currency}:
		b.setRefunded(c, a.Captured, Cause{Kind: CauseWebhook, ID: e.Event.ID})
		e.Verdict = fsm.Applied
	default:
		b.askAboutRefund(c, e)
	}
}

// askAboutRefund has a person find out what a refund was.
func (b *batch) askAboutRefund(c *Change, e *StoredEvent) {
	if e.Verdict != fsm.Applied && e.Verdict != fsm.Conflict {
		e.Verdict = Deferred
	}
	b.open(c, NeedsReview, "The provider told of a refund of this payment and can't be asked how much was paid back. "+
		"Look in its dashboard: if the refund is not one of those here, count it when you refund the rest, and resolve this as refunded_elsewhere.")
	b.latest().Event = EventKey{e.Account, e.Event.ID}
}
