package payment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

// Intake makes verified events durable, applied or parked, and returns the
// verdict on each. When it returns without an error they are on disk. It returns
// ErrOverloaded when the queue is full and ErrUnavailable when the storage is
// gone; the provider should then send them again. It returns ErrDeliveryReplayed for
// a delivery whose id came with another body before.
func (s *Service) Intake(ctx context.Context, received []Received) ([]fsm.Verdict, error) {
	arrivals := make([]*arrival, len(received))
	for i := range received {
		r := storable(received[i])
		if err := r.encode(); err != nil {
			return nil, err
		}
		if err := s.takeDelivery(ctx, r); err != nil {
			return nil, err
		}
		if r.Event.SecretIndex >= 0 { // anybody may have sent the others: Fetch finds out
			s.heard.from(r.Account, r.At)
		}
		arrivals[i] = &arrival{Received: r, digest: digest(r.Event)}
	}
	if err := grouped(s.arrivals.Do(ctx, arrivals...)); err != nil {
		return nil, err
	}
	verdicts := make([]fsm.Verdict, len(arrivals))
	for i, a := range arrivals {
		verdicts[i] = a.verdict
	}
	return verdicts, nil
}

// takeDelivery has the id of a delivery stand for its body from now on. It has a
// transaction of its own: a delivery that is not stored comes again as it was.
func (s *Service) takeDelivery(ctx context.Context, r Received) error {
	if r.Event.DeliveryID == "" {
		return nil
	}
	body, first := sha256.Sum256(r.Body), [32]byte{}
	err := s.store.InTx(ctx, func(ctx context.Context, tx Tx) (err error) {
		first, err = tx.DeliveryTake(ctx, r.Account, r.Event.DeliveryID, body)
		return err
	})
	if err == nil && first != body {
		err = ErrDeliveryReplayed
	}
	return err
}

// takeIn stores and applies arrivals in one transaction. An arrival whose
// attempt somebody else has locked is left without a verdict, for the next
// batch; with park it is stored as deferred instead. While the commit is on its
// way, meanwhile is called, if there is one.
func (s *Service) takeIn(ctx context.Context, arrivals []*arrival, park bool, meanwhile func()) error {
	return s.inBatch(ctx, func(ctx context.Context, b *batch) error {
		b.tx.Meanwhile(meanwhile)
		known, hits, err := b.tx.EventsArriving(ctx, keysOf(arrivals), namesOf(arrivals, (*arrival).leads))
		if err != nil {
			return err
		}
		fresh := b.dedupe(known, arrivals)
		found, err := b.findRest(ctx, b.found(hits), fresh)
		if err != nil {
			return err
		}
		if err := b.load(ctx, found, fresh); err != nil {
			return err
		}
		stored, left := found.decide(b, fresh, park)
		// A verdict is an acknowledgement: the repeat of an event that is not on
		// disk yet waits with it.
		for _, a := range arrivals {
			if left[a.key()] {
				a.verdict = ""
			}
		}
		if err := b.tx.EventsInsert(ctx, stored); err != nil {
			return err
		}
		return b.save(ctx)
	})
}

// decide gives new arrivals their verdicts. It returns those that are to be
// stored, and those that are left because of a lock.
func (f found) decide(b *batch, fresh []*arrival, park bool) (stored []StoredEvent, left map[EventKey]bool) {
	stored, left = make([]StoredEvent, 0, len(fresh)), map[EventKey]bool{}
	for _, a := range fresh {
		e := StoredEvent{ID: newEventID(), Received: a.Received, Digest: a.digest}
		if a.quarantined {
			b.quarantine(&e)
		} else if !f.judge(b, &e) && !park {
			left[a.key()] = true
			continue
		}
		stored = append(stored, e)
		a.verdict = e.Verdict
	}
	return stored, left
}

// dedupe returns the arrivals that are new, in order; the others get their
// verdict. Something known that says something else now is a discrepancy.
func (b *batch) dedupe(known map[EventKey][32]byte, arrivals []*arrival) []*arrival {
	fresh := make([]*arrival, 0, len(arrivals))
	for _, a := range arrivals {
		a.verdict = ""
		said, seen := known[a.key()]
		if !seen {
			known[a.key()] = a.digest
			fresh = append(fresh, a)
			continue
		}
		a.verdict = Duplicate
		if said != a.digest {
			b.discrepancies = append(b.discrepancies, changed(a, b.now()))
		}
	}
	return fresh
}

func keysOf(arrivals []*arrival) []EventKey {
	keys := make([]EventKey, len(arrivals))
	for i, a := range arrivals {
		keys[i] = a.key()
	}
	return keys
}

func changed(a *arrival, at time.Time) Discrepancy {
	return Discrepancy{
		Kind: EventChanged, Event: a.key(), About: hex.EncodeToString(a.digest[:]), At: at, Money: moneyOf(a.Event),
		Text: "An event came again with the same id and other content. The first content counts: compare it with the provider's dashboard.",
	}
}

// load reads what arrivals need to be applied to the attempts that they name.
func (b *batch) load(ctx context.Context, f found, arrivals []*arrival) error {
	refund := func(e webhooks.Event) bool { return newsByRefundKind[e.Kind] != "" }
	if err := b.loadRefunds(ctx, f.named(arrivals, refund)...); err != nil {
		return err
	}
	if err := b.loadTransactions(ctx, f.named(arrivals, func(e webhooks.Event) bool { return e.Transaction != "" })...); err != nil {
		return err
	}
	return b.loadMovements(ctx, f.moved(arrivals), movementNames(arrivals)...)
}

// named lists the attempts that events of a sort name.
func (f found) named(arrivals []*arrival, sort func(e webhooks.Event) bool) []AttemptID {
	var ids []AttemptID
	for _, a := range arrivals {
		if !sort(a.Event) {
			continue
		}
		for _, name := range a.Event.References {
			if at := f[Reference{a.Account, name}]; at != nil {
				ids = append(ids, at.ID)
			}
		}
	}
	slices.SortFunc(ids, func(a, b AttemptID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

// judge gives an event its verdict. It reports false if the attempt is locked
// by somebody else: then the event is marked to be parked.
func (f found) judge(b *batch, e *StoredEvent) bool {
	switch account := b.accounts[e.Account]; {
	case e.Event.Kind == webhooks.KindIgnored, e.Event.TestKnown && account.Live != nil && *account.Live == e.Event.Test:
		e.Verdict, e.NextTryAt = Ignored, nil
		return true
	case e.Event.NeedsFetch:
		if e.Verdict != Unmatched { // its provider has answered before
			e.Verdict = Deferred
		}
		e.park(e.Verdict, b.now())
		return true
	}
	for _, name := range e.Event.References {
		a, known := f[Reference{e.Account, name}]
		if known && a == nil {
			e.park(Deferred, b.now())
			return false
		}
		if known {
			b.apply(b.change(*a), e)
			return true
		}
	}
	e.park(Unmatched, b.now())
	return true
}

// quarantine stores an event for a person, who can have it applied again.
func (b *batch) quarantine(e *StoredEvent) {
	e.Verdict = Deferred
	b.discrepancies = append(b.discrepancies, Discrepancy{
		Kind: NeedsReview, Event: EventKey{e.Account, e.Event.ID}, At: b.now(), Money: moneyOf(e.Event),
		Text: "This event could not be applied; it is kept as it came. Compare with the provider's dashboard, then replay it.",
	})
}

// apply lets an event move the attempt that it names. One that must be fetched is
// due at once instead: only what the provider says then counts.
func (b *batch) apply(c *Change, e *StoredEvent) {
	if e.Event.NeedsFetch {
		now := b.now()
		e.Verdict, e.NextTryAt = Deferred, &now
		return
	}
	if _, ok := newsByRefundKind[e.Event.Kind]; ok {
		b.applyRefund(c, e)
		return
	}
	news, ok := newsByKind[e.Event.Kind]
	if !ok {
		e.park(Deferred, b.now())
		return
	}
	e.OrderID, e.AttemptID, e.NextTryAt = c.Attempt.OrderID, c.Attempt.ID, nil
	if b.elsewhere(c.Attempt, e.Event) {
		news = fsm.NewsProcessing // the money is held all the same
	}
	refused, over := b.refusal(c, e.Event, news), news == fsm.NewsFailed && c.Attempt.Failed()
	e.Verdict = b.advance(c, News{
		News: news, ProviderPaymentID: e.Event.ProviderPaymentID, Names: e.Event.References, Money: moneyOf(e.Event),
		Failure: failureOf(e.Event), Approved: e.Event.Approved, Refused: refused, Movements: movementOf(e.Event), Cause: Cause{Kind: CauseWebhook, ID: e.Event.ID},
	})
	if refused && e.Verdict != fsm.Applied {
		b.commandRefused(c, e)
	}
	if over {
		setReleased(&c.Attempt, e.Event.OccurredAt)
	}
	b.paidTwice(c, e)
	b.tell(c.Attempt.ID, e.Event)
}

// refusal reports whether an event ends the command of an attempt, which the provider
// had taken and does not carry out. One that goes on all the same is seen to.
func (b *batch) refusal(c *Change, e webhooks.Event, news fsm.News) bool {
	a := &c.Attempt
	switch refused := a.refusedBy(e); {
	case refused && e.CaptureRefused && news == fsm.NewsAuthorized && b.tellsCaptures(*a):
		// It may speak of an older capture, after which the money was confirmed again: to
		// end this one for it would allow another. The provider knows by this one's key.
		now := b.now()
		a.NextCheckAt = &now
		return false
	case !refused && e.CancelRefused && a.Intent.Kind == IntentCancel && !a.State.Final():
		a.Intent.Number++ // its key is used up, see endIntent
		return false
	default:
		return refused
	}
}

// refusedBy reports whether an event says that the provider does not carry out what it
// was asked for, and took. Where nothing is known to be held a cancellation is left to
// its schedule: the customer may be at the page. And what was held before the attempt
// failed went with that; only a hold that was told of afterwards, and that was asked to
// be given up then, can be left.
func (a Attempt) refusedBy(e webhooks.Event) bool {
	switch {
	case e.CaptureRefused:
		return a.Intent.Kind == IntentCapture
	case e.CancelRefused && a.Failed():
		return a.Authorized == 0 && !a.Intent.At.Before(*a.FinalizedAt)
	}
	return e.CancelRefused && a.State == fsm.Authorized && a.Intent.Kind == IntentCancel
}

// tellsCaptures reports whether a check finds out what became of a capture.
func (b *batch) tellsCaptures(a Attempt) bool {
	p := b.accounts[a.Account].Provider
	return p != nil && !p.Capabilities().Blind && !p.Capabilities().CaptureUnseen
}

// commandRefused tells a person of a command that the provider had taken and does not
// carry out, where nothing of the payment shows it: the money is still held.
func (b *batch) commandRefused(c *Change, e *StoredEvent) {
	e.Verdict = fsm.Applied
	if c.Attempt.Failed() {
		b.unreleased(c)
		return
	}
	command := aboutCapture
	if e.Event.CancelRefused {
		command = aboutCancellation
	}
	b.notCarriedOut(c, command, e.Event.ID)
}

// notCarriedOut asks a person about money that is still held since a command of the
// attempt was not carried out, and says which.
func (b *batch) notCarriedOut(c *Change, command, which string) {
	b.open(c, NeedsReview, "The "+command+" of this payment was asked for and not carried out. The money is still held: "+
		"see in the provider's dashboard why, then confirm it or cancel it.")
	b.latest().About = command + " " + which
}

var newsByKind = map[webhooks.Kind]fsm.News{ //nolint:gochecknoglobals // a table
	webhooks.KindProcessing:     fsm.NewsProcessing,
	webhooks.KindActionRequired: fsm.NewsActionRequired,
	webhooks.KindAuthorized:     fsm.NewsAuthorized,
	webhooks.KindSucceeded:      fsm.NewsSucceeded,
	webhooks.KindFailed:         fsm.NewsFailed,
	webhooks.KindSoftFailed:     fsm.NewsSoftFailed,
	webhooks.KindReversed:       fsm.NewsReversed,
	webhooks.KindDisputed:       fsm.NewsDisputed,

	webhooks.KindChargeback:         fsm.NewsReversed,
	webhooks.KindChargebackReversed: fsm.NewsReversed,
}

func moneyOf(e webhooks.Event) *Money {
	if e.Money == nil {
		return nil
	}
	return &Money{Minor: e.Money.Minor, Currency: Currency(e.Money.Currency)}
}

func failureOf(e webhooks.Event) *Failure {
	if e.FailureCode == "" {
		return nil
	}
	return NewFailure(e.FailureCode, e.ProviderCode)
}

// digest covers what an event says, not how: a second delivery with other
// white space is the same event.
func digest(e webhooks.Event) [32]byte {
	h := sha256.New()
	refs := slices.Clone(e.References)
	slices.Sort(refs)
	for _, part := range append([]string{string(e.Kind), e.RefundID}, refs...) {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part)))) //nolint:gosec // far below 4 GiB
		h.Write([]byte(part))
	}
	if e.Money != nil {
		h.Write(binary.BigEndian.AppendUint64([]byte(e.Money.Currency), uint64(e.Money.Minor))) //nolint:gosec // only hashed
	}
	h.Write([]byte(e.Amount + e.MovementID))
	return [32]byte(h.Sum(nil))
}
