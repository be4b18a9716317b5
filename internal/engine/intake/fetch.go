package intake

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/tracing"
	"github.com/paylatch/paylatch/webhooks"
)

// fetched is the response to the lookup of an event's subject. The subject is the refund, if the event is about a refund
// that can be looked up, else the payment.
type fetched struct {
	payment gateway.Outcome
	refund  *gateway.RefundOutcome
}

// fetch looks up an event with too little content at its provider, outside a transaction; nil if
// there is nothing to look up, or no response, with the error.
func (in *Inbox) fetch(ctx context.Context, r payment.ReceivedEvent) (*fetched, error) {
	if !in.canAsk(r) || r.Event.Method != nil { // a method is no payment: fetchMethod
		return nil, nil
	}
	e, p := r.Event, in.Accounts.Get(r.Account).Provider
	ctx, cancel := context.WithTimeout(ctx, in.ProviderTimeout)
	defer cancel()
	var f fetched
	var err error
	if payment.IsRefundEvent(e.Kind) && e.RefundID != "" && p.Capabilities().RefundLookup > payment.RefundLookupNone {
		f.refund = new(gateway.RefundOutcome)
		ref := gateway.RefundRef{ProviderRefundID: e.RefundID, ProviderPaymentID: e.ProviderPaymentID, Container: e.Container}
		if !hint(e) {
			// If the provider sent the notice, it had the refund by then.
			ref.Age = max(0, in.Now().Sub(r.At))
		}
		*f.refund, err = p.LookupRefund(ctx, ref)
	} else {
		f.payment, err = p.Lookup(ctx, cmp.Or(e.ProviderPaymentID, e.Container))
		if f.payment.ProviderPaymentID == "" && f.payment.Container == "" { // the response is about the payment that was looked up
			f.payment.ProviderPaymentID, f.payment.Container = e.ProviderPaymentID, e.Container
		}
	}
	if err != nil {
		return nil, err
	}
	return &f, nil
}

// canAsk reports whether an event names something to look up, and has a provider.
func (in *Inbox) canAsk(r payment.ReceivedEvent) bool {
	e, p := r.Event, in.Accounts.Get(r.Account).Provider
	if m := e.Method; m != nil {
		return e.NeedsFetch && p != nil && len(m.Tokens) > 0
	}
	return e.NeedsFetch && p != nil && (e.ProviderPaymentID != "" || e.Container != "" || p.Capabilities().RefundLookup == payment.RefundLookupAlone && payment.IsRefundEvent(e.Kind) && e.RefundID != "")
}

// unsignedTries is how often an unsigned event is fetched, in half a minute, until its payment counts as missing at the
// provider. A very new payment may not show yet.
const unsignedTries = 5

// Fetch looks up a parked event with too little content at its provider, and applies the response as its report. The
// same state fetched again is a repeat, so a notice that arrives twice moves nothing twice.
//
// A response may be older than the notice. It counts as older if it disagrees with the status in the notice. For a
// notice without a status, it counts as older if its payment still waits, or if it contains nothing new, unless the
// attempt has changed in the five minutes before. Such a response is fetched again, five times in the notice's first ten
// minutes. A response that would end a payment counts only after that if the notice reports the payment as paid or held.
// It then opens a discrepancy.
//
// Without a response the event is tried again. An unsigned event is ignored after a few tries if the provider does not
// have its payment. A throttled lookup does not count as a try.
func (in *Inbox) Fetch(ctx context.Context, e payment.StoredEvent) error {
	if e.Event.Method != nil {
		return in.fetchMethod(ctx, e)
	}
	since := tracing.Mark(ctx)
	f, err := in.fetch(ctx, e.ReceivedEvent)
	asked := err != nil && !errors.Is(err, gateway.ErrThrottled) && ctx.Err() == nil
	switch {
	case f != nil:
		return in.settle(ctx, e.ID, f, since)
	case asked:
		noSuch := errors.Is(err, gateway.ErrNoSuchPayment)
		if noSuch {
			earlier, err := in.ofEarlierMerchant(ctx, e)
			if err != nil {
				return err
			}
			noSuch = !earlier
		}
		return in.unanswered(ctx, e.ID, noSuch)
	}
	return nil
}

// ofEarlierMerchant reports whether an event names an attempt that was begun with another merchant than the account's of now, which
// does not have its payment.
func (in *Inbox) ofEarlierMerchant(ctx context.Context, e payment.StoredEvent) (bool, error) {
	owners, err := in.Store.ReferencesKnown(ctx, []payment.Reference{
		{Account: e.Account, Name: e.Event.ProviderPaymentID}, {Account: e.Account, Name: e.Event.Container},
	})
	if err != nil {
		return false, err
	}
	for _, id := range owners {
		if a, err := in.Store.Attempt(ctx, id); err != nil || in.AccountOf(a).Merchant != a.Merchant {
			return err == nil, err
		}
	}
	return false, nil
}

// unanswered counts a try without a response, or with the response that the payment does not exist.
func (in *Inbox) unanswered(ctx context.Context, id payment.EventID, noSuch bool) error {
	return changeset.Run(ctx, in.Store.InEventTx, in.Rules, func(ctx context.Context, s *changeset.Changeset, tx Tx) error {
		e, err := tx.EventLock(ctx, id)
		if err != nil || e.NextTryAt == nil {
			return err
		}
		e.Tries++
		switch {
		case noSuch && e.Event.SecretIndex < 0 && e.Tries >= unsignedTries:
			e.Verdict, e.NextTryAt = payment.Ignored, nil
		case e.NextTryAt.After(s.Now()): // else it was made due, with a name for it
			e.Park(e.Verdict, s.Now())
		}
		if !mayBeForeign(s, &e) {
			sendToReview(s, &e)
		}
		if err := tx.EventsSettle(ctx, []payment.StoredEvent{e}); err != nil {
			return err
		}
		return s.Save(ctx)
	})
}

// settle applies the fetched response to an event. since is the start of its span.
func (in *Inbox) settle(ctx context.Context, id payment.EventID, f *fetched, since time.Time) error {
	var unknown []*arrival
	var ours, theirs []payment.StoredEvent
	err := changeset.Run(ctx, in.Store.InEventTx, in.Rules, func(ctx context.Context, s *changeset.Changeset, tx Tx) error {
		unknown, ours, theirs = nil, nil, nil
		e, err := tx.EventLock(ctx, id)
		if err != nil || e.NextTryAt == nil {
			return err
		}
		hits, named, err := in.subject(ctx, s, tx, e.ReceivedEvent, f)
		if err != nil {
			return err
		}
		e.Tries++
		switch a := hits.first(named); {
		case a != nil && s.AccountOf(*a).Merchant != a.Merchant: // another merchant has responded
			e.Park(payment.VerdictDeferred, s.Now())
			sendToReview(s, &e)
		case a != nil:
			applyFetched(s, s.Change(*a), &e, f)
			ours = append(ours, e)
			sendToReview(s, &e)
		case hits.has(e.Account, names(named.Event)):
			putOff(&e, s.Now())
			sendToReview(s, &e)
		default:
			e.Park(payment.VerdictUnmatched, s.Now())
			unknown = []*arrival{named}
			stays(s, &e, names(named.Event))
			theirs = append(theirs, e)
		}
		if err := tx.EventsSettle(ctx, []payment.StoredEvent{e}); err != nil {
			return err
		}
		return s.Save(ctx)
	})
	in.missed.add(unknown, in.Now())
	if err != nil {
		return err
	}
	for _, e := range ours {
		in.last.note(e.Account, e.At)
		appliedOf(e).traced(ctx, "webhook fetched", since, tracing.Context{})
	}
	in.becameForeign(theirs)
	return nil
}

// hint reports whether not all that an event contains is signed.
func hint(e webhooks.Event) bool { return e.SecretIndex < 0 || e.DeliveryID != "" }

// names returns the names of the payment that was fetched for an event. The names in a hint itself don't count: they could
// give another customer's payment to an attempt.
func (f *fetched) names(e webhooks.Event) []string {
	if !hint(e) {
		all := slices.Concat(e.References, f.payment.References)
		if f.refund != nil && f.refund.ProviderPaymentID != "" {
			all = append(all, f.refund.ProviderPaymentID)
		}
		return all
	}
	var all []string
	for _, id := range []string{e.ProviderPaymentID, e.Container, f.payment.ProviderPaymentID, f.payment.Container} {
		if id != "" && !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return append(all, f.payment.References...)
}

// subject looks for the attempt that an event, or its fetched response, names, with the data needed to apply it. It
// returns the event with all those names.
func (in *Inbox) subject(ctx context.Context, s *changeset.Changeset, tx Tx, r payment.ReceivedEvent, f *fetched) (found, *arrival, error) {
	if f != nil {
		r.Event.References = f.names(r.Event)
	}
	named := &arrival{ReceivedEvent: r}
	hits, err := find(ctx, tx, s, []*arrival{named})
	if err != nil {
		return nil, nil, err
	}
	if err := hits.load(ctx, s, []*arrival{named}); err != nil {
		return nil, nil, err
	}
	if f != nil {
		err = loadFetched(ctx, s, hits.first(named), r.Account, f.payment)
	}
	return hits, named, err
}

// loadFetched reads the data that the response about a payment needs.
func loadFetched(ctx context.Context, s *changeset.Changeset, a *payment.Attempt, account string, o gateway.Outcome) error {
	var named changeset.Named
	for _, report := range gateway.Reports(o, payment.Cause{}) {
		named = named.With(changeset.NamedBy(report, account))
	}
	if a != nil && len(o.Refunds) > 0 {
		if err := s.LoadRefunds(ctx, a.ID); err != nil {
			return err
		}
	}
	return s.LoadNamed(ctx, named)
}

// applyFetched applies the provider's response instead of the event's own content.
func applyFetched(s *changeset.Changeset, c *changeset.Change, e *payment.StoredEvent, f *fetched) {
	switch own := e.Event; {
	case f.refund != nil:
		applyFetchedRefund(s, c, e, *f.refund)
		return
	case wholeChargeback(own) && f.payment.Money != nil && s.Accounts.Get(e.Account).Provider.Capabilities().Shows == payment.ShowsChargebacks:
		if own.Kind == webhooks.KindChargeback {
			applyAnswer(s, c, e, f) // of a payment that is charged back the capture may have been missed
			if c.Attempt.Sums(payment.MovementCapture) == 0 {
				return
			}
		}
		verdict, money := e.Verdict, f.payment.Money.Wire()
		e.Event.NeedsFetch, e.Event.References, e.Event.Money = false, f.names(own), &money
		e.Event.ProviderPaymentID = cmp.Or(f.payment.ProviderPaymentID, own.ProviderPaymentID)
		if s.ApplyEvent(c, e); verdict == fsm.Applied && e.Verdict == fsm.Repeat {
			e.Verdict = verdict
		}
		e.Event = own
		return
	case payment.EventCountsBeside(own) && slices.Contains(notLookedUp, own.Kind):
		// The provider's API does not show this kind of event. The lookup only found the payment.
		e.Event.NeedsFetch, e.Event.References = false, f.names(own)
		e.Event.ProviderPaymentID = cmp.Or(f.payment.ProviderPaymentID, own.ProviderPaymentID)
		s.ApplyEvent(c, e)
		e.Event = own
		return
	}
	applyAnswer(s, c, e, f)
}

// wholeChargeback reports whether a signed event is about the chargeback of a whole payment, or about its reversal. The
// time of the event distinguishes one chargeback from the next; the lookup does not.
func wholeChargeback(e webhooks.Event) bool {
	return !hint(e) && (e.Kind == webhooks.KindChargebackReversed || e.Kind == webhooks.KindChargeback && e.MovementID != "")
}

// notLookedUp are the kinds that a lookup of the payment does not show.
var notLookedUp = []webhooks.Kind{ //nolint:gochecknoglobals // a list
	webhooks.KindReview, webhooks.KindDisputed, webhooks.KindDisputeClosed, webhooks.KindReversed, webhooks.KindChargeback, webhooks.KindChargebackReversed,
}

// applyFetchedRefund applies a refund as if the event itself had contained all of it.
func applyFetchedRefund(s *changeset.Changeset, c *changeset.Change, e *payment.StoredEvent, o gateway.RefundOutcome) {
	if at, early := asksAgain(e, s.Now()); early && e.Event.Kind == webhooks.KindRefundFailed && o.Event == fsm.EventSucceeded {
		wait(e, at) // the response may be older than the notice, which is not repeated
		return
	}
	own := e.Event
	e.Event.NeedsFetch = false
	e.Event.Kind, e.Event.RefundID = refundKind(o.Event), cmp.Or(o.ProviderRefundID, own.RefundID)
	e.Event.ProviderPaymentID = cmp.Or(o.ProviderPaymentID, own.ProviderPaymentID)
	e.Event.Money, e.Event.Amount, e.Event.FailureCode, e.Event.ProviderCode = nil, "", "", ""
	if hint(e.Event) || o.Reference != "" {
		e.Event.RefundReference = o.Reference
	}
	if o.Money != nil {
		money := o.Money.Wire()
		e.Event.Money = &money
	}
	if o.Failure != nil {
		e.Event.FailureCode, e.Event.ProviderCode = webhooks.FailureCode(o.Failure.Code), o.Failure.ProviderCode
	}
	s.ApplyEvent(c, e)
	e.Event = own
}

// refundKind is the kind of an event with a refund's standing.
func refundKind(n fsm.Event) webhooks.Kind {
	switch n {
	case fsm.EventSucceeded:
		return webhooks.KindRefundSucceeded
	case fsm.EventFailed:
		return webhooks.KindRefundFailed
	case fsm.EventUnknown, fsm.EventProcessing, fsm.EventActionRequired, fsm.EventAuthorized, fsm.EventSoftFailed, fsm.EventMoney, fsm.EventDisputed,
		fsm.EventReopened, fsm.EventProcessingAgain:
	}
	return webhooks.KindRefundPending
}

// noticeDelay is how long after a refund its notice may come.
const noticeDelay = 5 * time.Minute

// noticeOfRefund applies the notice of a refund that can't be looked up. If it is signed, a refund
// of everything is plain. Of less the amount is unknown: a person is to find it out, unless all is
// recorded or it may be the notice of a refund that is.
func noticeOfRefund(s *changeset.Changeset, c *changeset.Change, e *payment.StoredEvent) {
	a := &c.Attempt
	known := slices.ContainsFunc(s.Refunds(a.ID), func(r payment.Refund) bool {
		return r.State == fsm.RefundPending || r.PaidBack(a) && e.At.Sub(r.UpdatedAt) < noticeDelay
	})
	signed := !hint(e.Event) && e.Event.RefundID == "" && e.Event.Kind == webhooks.KindRefundSucceeded
	money := payment.EventMoney(e.Event)
	captured := a.AmountCaptured()
	switch {
	case e.Event.Kind == webhooks.KindRefundPending, known, captured > 0 && a.Refunded >= captured:
	case captured > 0 && signed && money != nil && *money == payment.Money{Minor: captured, Currency: a.Money.Currency}:
		e.Verdict = s.Apply(c, payment.Report{
			Event: fsm.EventMoney, Cause: payment.Cause{Kind: payment.CauseWebhook, ID: e.Event.ID},
			Refund: &payment.RefundReport{Event: fsm.EventSucceeded, Money: money, Total: true},
		})
	default:
		if e.Verdict != fsm.Applied && e.Verdict != fsm.Conflict {
			e.Verdict = payment.VerdictDeferred
		}
		id := a.ID
		s.Open(payment.Discrepancy{
			Kind: payment.NeedsReview, About: payment.AboutRefundUnattributed, OrderID: a.OrderID, AttemptID: &id, Event: e.Key(),
			Text: "The provider sent a notice of a refund of this payment, and paylatch can't ask the provider for the amount. Find the " +
				"refund in the provider's dashboard. If it is not listed here, subtract it when you refund the rest, and resolve " +
				"this case as refunded_elsewhere.",
		})
	}
}
