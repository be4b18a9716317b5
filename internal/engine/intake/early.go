package intake

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// Anyone can send unsigned notices, so a notice is stored only if it names a payment that is on disk. Other notices wait
// in memory for a while. A notice may arrive before the response that brings the name. It may also be the only report of
// a payment if the response was lost. The bounds hold for one process: earlyBySender for one sender, earlyBytes for all
// senders.
const (
	earlyMost     = 1000
	earlyBySender = 100
	earlyBytes    = 4 << 20
	earlyLife     = time.Minute
	// earlyAsk is how long a notice waits for its name before it is looked up.
	earlyAsk = 2 * time.Second
)

// early is a delivery that waits for its payment to be on disk.
type early struct {
	received []payment.ReceivedEvent
	sender   string
	size     int
	at       time.Time
	// asked is set when a lookup begins. If the lookup gives no answer, asked is cleared and unanswered is set.
	asked, unanswered bool
}

// over reports whether a delivery has waited long enough.
func (e *early) over(now time.Time) bool { return now.Sub(e.at) >= earlyLife }

func (e *early) account() string { return e.received[0].Account }

// same reports whether two deliveries are about the same.
func (e *early) same(o *early) bool {
	return slices.EqualFunc(e.received, o.received, func(a, b payment.ReceivedEvent) bool {
		return a.Account == b.Account && a.Event.Kind == b.Event.Kind && a.Event.RefundID == b.Event.RefundID &&
			a.Event.ProviderPaymentID == b.Event.ProviderPaymentID && a.Event.Container == b.Event.Container && slices.Equal(a.Event.References, b.Event.References)
	})
}

// earlyNotices are the early notices of a process, oldest first, and then those whose lookup gave no answer.
type earlyNotices struct {
	mu      sync.Mutex
	waiting []*early
	bytes   int
	// By sender, when a delivery was last looked up at its provider.
	asked map[string]time.Time
}

// put adds a delivery, and reports false if there is no room.
func (q *earlyNotices) put(e *early) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	var sent int
	for _, o := range q.waiting {
		if o.sender == e.sender {
			sent++
		}
		if o.same(e) {
			return true
		}
	}
	if sent >= earlyBySender || len(q.waiting) >= earlyMost || q.bytes+e.size > earlyBytes {
		return false
	}
	q.waiting, q.bytes = append(q.waiting, e), q.bytes+e.size
	return true
}

// now returns the waiting notices, after it has removed the notices that have waited long enough. A notice whose lookup gave no
// answer is not removed, but returned in left.
func (q *earlyNotices) now(now time.Time) (waiting, left []*early) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.remove(func(e *early) bool { return e.over(now) && !e.unanswered })
	for _, e := range q.waiting {
		if e.over(now) {
			left = append(left, e)
		} else {
			waiting = append(waiting, e)
		}
	}
	return waiting, left
}

// looked notes the end of a lookup. A delivery without an answer is looked up again, after the others of its sender.
func (q *earlyNotices) looked(e *early, answered bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e.unanswered = !answered
	if i := slices.Index(q.waiting, e); i >= 0 && !answered {
		e.asked = false
		q.waiting = append(slices.Delete(q.waiting, i, i+1), e)
	}
}

func (q *earlyNotices) drop(e *early) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.remove(func(o *early) bool { return o == e })
}

// remove needs the lock.
func (q *earlyNotices) remove(which func(*early) bool) {
	q.waiting = slices.DeleteFunc(q.waiting, func(e *early) bool {
		if !which(e) {
			return false
		}
		q.bytes -= e.size
		return true
	})
	if len(q.waiting) == 0 {
		q.waiting, q.asked = nil, nil
	}
}

// toAsk picks one delivery of each account to be looked up, of the sender that has waited longest
// for that: a sender of many gets no more of them.
func (q *earlyNotices) toAsk(now time.Time) map[string]*early {
	q.mu.Lock()
	defer q.mu.Unlock()
	picked := map[string]*early{}
	for _, e := range q.waiting {
		if e.asked || now.Sub(e.at) < earlyAsk || e.over(now) {
			continue
		}
		if other := picked[e.account()]; other == nil || q.asked[e.sender].Before(q.asked[other.sender]) {
			picked[e.account()] = e
		}
	}
	if q.asked == nil {
		q.asked = make(map[string]time.Time)
	}
	for _, e := range picked {
		e.asked, q.asked[e.sender] = true, now
	}
	return picked
}

// Known reports whether any received event names a payment that is on disk. Concurrent calls share a read. It returns
// payment.ErrUnavailable.
func (in *Inbox) Known(ctx context.Context, received []payment.ReceivedEvent) (bool, error) {
	for _, ref := range named(received) {
		_, found, err := in.known.Get(ctx, ref)
		if err != nil || found {
			return found, unavailable(err)
		}
	}
	return false, nil
}

// named returns the references that deliveries name a payment by.
func named(received []payment.ReceivedEvent) []payment.Reference {
	var refs []payment.Reference
	for _, r := range received {
		for _, name := range append(slices.Clone(r.Event.References), r.Event.ProviderPaymentID, r.Event.Container) {
			if name != "" && r.Event.Kind != webhooks.KindIgnored {
				refs = append(refs, payment.Reference{Account: r.Account, Name: payment.StorableName(name)})
			}
		}
	}
	return changeset.Sorted(refs)
}

// Early keeps an unsigned delivery without a payment on disk, for a minute, in memory only. It returns
// payment.ErrOverloaded if there is no room for more deliveries of the sender or of all senders.
func (in *Inbox) Early(sender string, received []payment.ReceivedEvent) error {
	if len(named(received)) == 0 {
		return nil // it can be of no payment
	}
	e := &early{received: received, sender: sender, at: in.Now()}
	for _, r := range received {
		e.size += len(r.Body)
		for name, value := range r.Headers {
			e.size += len(name) + len(value)
		}
	}
	if !in.early.put(e) {
		return payment.ErrOverloaded
	}
	return nil
}

// RetryEarly takes in the early deliveries whose payment is on disk by now. For the others it returns lookups, one for
// each account. They may run at the same time. A lookup's response only finds the payment: it is looked up again when
// the delivery is taken in. A delivery whose lookups gave no answer is taken in at the end of its life; there is at most one in each
// round of an account.
func (in *Inbox) RetryEarly(ctx context.Context) (questions []func(context.Context) error, err error) {
	waiting, left := in.early.now(in.Now())
	for _, e := range left {
		if err := in.admit(ctx, e); err != nil {
			return nil, err
		}
	}
	if len(waiting) == 0 {
		return nil, nil
	}
	var refs []payment.Reference
	for _, e := range waiting {
		refs = append(refs, named(e.received)...)
	}
	owners, err := in.Store.ReferencesKnown(ctx, changeset.Sorted(refs))
	if err != nil {
		return nil, err
	}
	for _, e := range waiting {
		if slices.ContainsFunc(named(e.received), func(r payment.Reference) bool { _, there := owners[r]; return there }) {
			if err := in.admit(ctx, e); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range in.early.toAsk(in.Now()) {
		questions = append(questions, func(ctx context.Context) error { return in.askEarly(ctx, e) })
	}
	return questions, nil
}

func (in *Inbox) admit(ctx context.Context, e *early) error {
	if _, err := in.Intake(ctx, e.received); err != nil {
		return err
	}
	in.early.drop(e)
	return nil
}

// askEarly takes in a delivery if a lookup shows that the payment is ours. Without a response the delivery goes on
// waiting for its name, and is looked up again.
func (in *Inbox) askEarly(ctx context.Context, e *early) error {
	answered := true
	defer func() { in.early.looked(e, answered) }()
	for _, r := range e.received {
		f, err := in.fetch(ctx, r)
		if err != nil || f == nil {
			answered = answered && (err == nil || errors.Is(err, gateway.ErrNoSuchPayment))
			continue
		}
		r.Event.References = f.names(r.Event)
		if known, err := in.Known(ctx, []payment.ReceivedEvent{r}); err != nil || known {
			if err == nil {
				err = in.admit(ctx, e)
			}
			answered = err == nil
			return err
		}
	}
	return nil
}
