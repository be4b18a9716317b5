// Package intake takes in providers' webhooks. It stores them, deduplicated by the provider's event id, and applies them
// to the attempts that they name, many in one commit. An event that can't be applied yet is parked and tried again. An
// event with too little content is fetched from the provider.
//
// An acknowledgement means that the event is on disk. Intake never waits for an attempt's lock: an
// event of a locked attempt goes to the next batch.
package intake

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/platform/groupcommit"
	"github.com/paylatch/paylatch/internal/platform/tracing"
	"github.com/paylatch/paylatch/webhooks"
)

// Options configure an Inbox.
type Options struct {
	Store Store
	changeset.Rules
	// Readers read events again that could not be read, by account.
	Readers *current.Map[webhooks.Reader]

	// ProviderTimeout bounds one call to a provider.
	ProviderTimeout time.Duration
	// StaleAfter is how long attempts may be pending without a webhook of their account
	// until that counts as stale.
	StaleAfter time.Duration
	// Foreign is called with the account of each event that has become foreign; nil for nothing.
	Foreign func(account string)
	// Flushed is called with how many events share each transaction; nil for nothing.
	Flushed func(items int)
	// Now is the process's clock.
	Now func() time.Time
}

// Inbox takes webhooks in. It is safe for concurrent use.
type Inbox struct {
	Options

	arrivals *groupcommit.Group[*arrival]
	known    *groupcommit.Reads[payment.Reference, payment.AttemptID]
	seed     maphash.Seed
	last     lastWebhooks
	missed   missed
	early    earlyNotices
}

// New returns an intake. Close must be called in the end.
func New(o Options) *Inbox {
	in := &Inbox{Options: o, seed: maphash.MakeSeed()}
	in.arrivals = groupcommit.New(groupcommit.Options[*arrival]{
		Flush: in.flush, Flushed: o.Flushed,
		Queue: groupcommit.Limits{Items: 4096, Bytes: 256 << 20}, Batch: groupcommit.Limits{Items: 128, Bytes: 4 << 20},
		Size: func(a *arrival) int { return len(a.Body) }, Keys: in.conflicts,
		Flushes: 4, Linger: 3 * time.Millisecond,
		Requeues: 400, RequeueAfter: 5 * time.Millisecond,
		Rejected: changeset.Rejected, Quarantine: in.quarantine,
	})
	in.known = groupcommit.NewReads(o.Store.ReferencesKnown)
	return in
}

// Run takes webhooks in until ctx ends, and then the ones that are still queued.
func (in *Inbox) Run(ctx context.Context) error {
	<-ctx.Done()
	in.arrivals.Close()
	return nil
}

// Intake makes verified events durable, applied or parked, and returns the verdict on each. When it
// returns without an error they are on disk. It returns payment.ErrOverloaded when the queue is
// full and payment.ErrUnavailable when the storage is gone; the provider should then send them
// again. It returns payment.ErrDeliveryReplayed for a delivery id that came with another body
// before.
func (in *Inbox) Intake(ctx context.Context, received []payment.ReceivedEvent) ([]fsm.Verdict, error) {
	since := tracing.Mark(ctx)
	arrivals := make([]*arrival, len(received))
	for i := range received {
		r := payment.StorableEvent(received[i])
		if err := r.Encode(); err != nil {
			return nil, err
		}
		if err := in.takeDelivery(ctx, r); err != nil {
			return nil, err
		}
		if r.Event.SecretIndex >= 0 { // the others are unsigned: Fetch looks them up
			in.last.note(r.Account, r.At)
		}
		arrivals[i] = &arrival{ReceivedEvent: r, digest: digest(r.Event), request: tracing.Current(ctx)}
	}
	if err := unavailable(in.arrivals.Do(ctx, arrivals...)); err != nil {
		return nil, err
	}
	verdicts := make([]fsm.Verdict, len(arrivals))
	for i, a := range arrivals {
		a.applied.traced(ctx, "webhook", since, a.shared)
		verdicts[i] = a.verdict
	}
	return verdicts, nil
}

// unavailable is an error of a group in the vocabulary of package payment.
func unavailable(err error) error {
	switch {
	case errors.Is(err, groupcommit.ErrFull):
		return payment.ErrOverloaded
	case errors.Is(err, groupcommit.ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", payment.ErrUnavailable, err)
	}
	return err
}

// takeDelivery binds the id of a delivery to its body. It has a transaction of its own: a delivery that is not stored is
// repeated unchanged.
func (in *Inbox) takeDelivery(ctx context.Context, r payment.ReceivedEvent) error {
	if r.Event.DeliveryID == "" {
		return nil
	}
	body, first := sha256.Sum256(r.Body), [32]byte{}
	err := in.Store.InEventTx(ctx, func(ctx context.Context, tx Tx) (err error) {
		first, err = tx.DeliveryTake(ctx, r.Account, r.Event.DeliveryID, body)
		return err
	})
	if err == nil && first != body {
		err = payment.ErrDeliveryReplayed
	}
	return err
}

// arrival is an event on its way to the disk.
type arrival struct {
	payment.ReceivedEvent
	digest  [32]byte
	verdict fsm.Verdict
	// quarantined events are stored and not applied.
	quarantined bool
	// applied is the event's effect on an attempt. request is the span of its request, shared the span of its
	// transaction; empty where traces are off.
	applied         applied
	request, shared tracing.Context
}

// conflicts returns hashes of an event's id and of the names in it. Events that share a hash are not in two batches
// under way.
func (in *Inbox) conflicts(a *arrival) []uint64 {
	keys := append(make([]uint64, 0, 1+len(a.Event.References)), maphash.Comparable(in.seed, a.Key()))
	for _, name := range a.Event.References {
		keys = append(keys, maphash.Comparable(in.seed, payment.Reference{Account: a.Account, Name: name}))
	}
	return keys
}

func (in *Inbox) flush(ctx context.Context, b *groupcommit.Batch[*arrival]) error {
	ctx, span := tracing.Batch(ctx, "commit webhooks", b.Items, func(a *arrival) tracing.Context { return a.request })
	for _, a := range b.Items {
		a.shared = span.Context()
	}
	err := in.store(ctx, b.Items, false, b.Sent)
	span.End("", err != nil)
	for i, a := range b.Items {
		if a.verdict == "" {
			b.Requeue(i)
		}
	}
	return err
}

// quarantine stores an event that can't be applied, so that it is neither lost nor in the way. If its content can't be
// stored it keeps only its id and bytes. An event of an attempt that is locked for too long is parked.
func (in *Inbox) quarantine(ctx context.Context, a *arrival, err error) error {
	again := func() error { return in.store(ctx, []*arrival{a}, true, nil) }
	if errors.Is(err, groupcommit.ErrLocked) {
		err = again()
	}
	if changeset.Rejected(err) {
		a.quarantined = true
		err = again()
	}
	if changeset.Rejected(err) {
		r := payment.ReceivedEvent{Account: a.Account, Headers: a.Headers, Body: a.Body, At: a.At}
		r.Event = webhooks.Event{ID: a.Event.ID, IDSource: a.Event.IDSource, Kind: webhooks.KindNotice, SecretIndex: a.Event.SecretIndex}
		a.ReceivedEvent = r
		err = again()
	}
	return err
}

// store stores and applies arrivals in one transaction. An arrival of a locked attempt is left
// without a verdict, for the next batch; with park it is stored as deferred instead. While the
// commit is on its way, meanwhile is called, if there is one.
func (in *Inbox) store(ctx context.Context, arrivals []*arrival, park bool, meanwhile func()) error {
	return changeset.Run(ctx, in.Store.InEventTx, in.Rules, func(ctx context.Context, s *changeset.Changeset, tx Tx) error {
		tx.Meanwhile(meanwhile)
		known, hits, err := tx.EventsArriving(ctx, keysOf(arrivals), referencesOf(arrivals, leads))
		if err != nil {
			return err
		}
		fresh := deduplicate(s, known, arrivals)
		f, err := findRest(ctx, tx, newFound(s, hits), s, fresh)
		if err != nil {
			return err
		}
		if err := f.load(ctx, s, fresh); err != nil {
			return err
		}
		stored, left := f.decide(s, fresh, park)
		// A verdict is an acknowledgement: the repeat of an event that is not on disk yet
		// waits with it.
		for _, a := range arrivals {
			if left[a.Key()] {
				a.verdict = ""
			}
		}
		if err := tx.EventsInsert(ctx, stored); err != nil {
			return err
		}
		return s.Save(ctx)
	})
}

// decide gives new arrivals their verdicts. It returns the events to store, and the events that are left because of a
// lock.
func (f found) decide(s *changeset.Changeset, fresh []*arrival, park bool) (stored []payment.StoredEvent, left map[payment.EventKey]bool) {
	stored, left = make([]payment.StoredEvent, 0, len(fresh)), map[payment.EventKey]bool{}
	for _, a := range fresh {
		e := payment.StoredEvent{ID: payment.NewEventID(s.Cell), ReceivedEvent: a.ReceivedEvent, Digest: a.digest}
		if a.quarantined {
			keepForReview(s, &e)
		} else if !f.judge(s, &e) && !park {
			left[a.Key()] = true
			continue
		}
		stored = append(stored, e)
		a.verdict, a.applied = e.Verdict, appliedOf(e)
	}
	return stored, left
}

// deduplicate returns the arrivals that are new, in order; the others get their verdict. A stored
// event with other content is a discrepancy.
func deduplicate(s *changeset.Changeset, known map[payment.EventKey][32]byte, arrivals []*arrival) []*arrival {
	fresh := make([]*arrival, 0, len(arrivals))
	for _, a := range arrivals {
		a.verdict = ""
		content, seen := known[a.Key()]
		if !seen {
			known[a.Key()] = a.digest
			fresh = append(fresh, a)
			continue
		}
		a.verdict = payment.VerdictDuplicate
		if content != a.digest {
			s.Open(payment.Discrepancy{
				Kind: payment.EventChanged, Event: a.Key(), AboutID: hex.EncodeToString(a.digest[:]), Money: payment.EventMoney(a.Event),
				Text: "An event arrived again with the same id and other content. paylatch uses the first content. Compare the payment with the provider's dashboard.",
			})
		}
	}
	return fresh
}

func keysOf(arrivals []*arrival) []payment.EventKey {
	keys := make([]payment.EventKey, len(arrivals))
	for i, a := range arrivals {
		keys[i] = a.Key()
	}
	return keys
}

// judge gives an event its verdict. It reports false if the attempt is locked: then the
// event is marked to be parked.
func (f found) judge(s *changeset.Changeset, e *payment.StoredEvent) bool {
	switch account := s.Accounts.Get(e.Account); {
	case e.Event.Kind == webhooks.KindUnreadable:
		e.Verdict, e.NextTryAt = payment.VerdictUnreadable, nil
		s.Open(unreadable(e))
		return true
	case e.Event.Kind == webhooks.KindIgnored:
		e.Verdict, e.NextTryAt = payment.Ignored, nil
		return true
	case ofOtherMode(e.Event, account):
		return f.byName(s, e, s.ApplyOtherMode, func() { e.Verdict, e.NextTryAt = payment.Ignored, nil })
	case e.Event.NeedsFetch:
		if e.Verdict == payment.VerdictForeign {
			e.Verdict = payment.VerdictUnmatched
		}
		if e.Verdict != payment.VerdictUnmatched { // it was looked up before
			e.Verdict = payment.VerdictDeferred
		}
		e.Park(e.Verdict, s.Now())
		return true
	case e.Event.Method != nil:
		s.ApplyMethod(e)
		return true
	}
	return f.byName(s, e, s.ApplyEvent, func() { e.Park(payment.VerdictUnmatched, s.Now()) })
}

// byName applies an event to the attempt that it names, or calls nameless if no attempt has the name. It returns false
// if the attempt is locked: then the event is marked to be parked.
func (f found) byName(s *changeset.Changeset, e *payment.StoredEvent, apply func(*changeset.Change, *payment.StoredEvent), nameless func()) bool {
	for _, name := range names(e.Event) {
		a, known := f[payment.Reference{Account: e.Account, Name: name}]
		if known && a == nil {
			e.Park(payment.VerdictDeferred, s.Now())
			return false
		}
		if known {
			apply(s.Change(*a), e)
			return true
		}
	}
	nameless()
	return true
}

// ofOtherMode reports whether an event is of test money at an account of real money, or the other way round.
func ofOtherMode(e webhooks.Event, account gateway.Account) bool {
	return e.Mode != "" && account.Live != nil && *account.Live != (e.Mode == webhooks.ModeLive)
}

// keepForReview stores an event for a person to replay.
func keepForReview(s *changeset.Changeset, e *payment.StoredEvent) {
	e.Verdict = payment.VerdictDeferred
	s.Open(payment.Discrepancy{
		Kind: payment.NeedsReview, About: payment.AboutEventNotApplied, Event: e.Key(), Money: payment.EventMoney(e.Event),
		Text: "paylatch could not apply this event and keeps it unchanged. Compare the event with the provider's dashboard, then replay it.",
	})
}

// digest covers the content of an event, not its form: a second delivery with other white space is the same event.
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
	switch m := e.Method; {
	case m != nil:
		h.Write([]byte(strings.Join(append([]string{"", m.Type, m.Display, m.Expires}, m.Tokens...), "\x00")))
	case e.Kind == webhooks.KindReview:
		h.Write([]byte("\x00" + e.Review.ID + "\x00" + string(e.Review.Status)))
	}
	return [32]byte(h.Sum(nil))
}
