package payment

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/paylatch/paylatch/webhooks"
)

// Anybody can send notices that nobody signed, so that one is stored only if it names
// a payment that is known here. Those that name none wait in memory for a while: a
// notice may come before the provider's answer that brings the name, and may be all
// that is heard of a payment whose answer was lost. The bounds are of one process, of
// which earlyBySender is one sender's and earlyBytes is what all of them take.
const (
	earlyMost     = 1000
	earlyBySender = 100
	earlyBytes    = 4 << 20
	earlyLife     = time.Minute
	// earlyAsk is how long a notice waits for its name before its provider is asked.
	earlyAsk = 2 * time.Second
)

// early is a delivery that waits for its payment to become known.
type early struct {
	received []Received
	sender   string
	size     int
	at       time.Time
	asked    bool
}

func (e *early) account() string { return e.received[0].Account }

// same reports whether two deliveries say the same of the same.
func (e *early) same(o *early) bool {
	return slices.EqualFunc(e.received, o.received, func(a, b Received) bool {
		return a.Account == b.Account && a.Event.Kind == b.Event.Kind && a.Event.RefundID == b.Event.RefundID &&
			a.Event.ProviderPaymentID == b.Event.ProviderPaymentID && slices.Equal(a.Event.References, b.Event.References)
	})
}

// earlyNotices are those of a process, oldest first.
type earlyNotices struct {
	mu      sync.Mutex
	waiting []*early
	bytes   int
	// asked is when a delivery of a sender was last asked about.
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

// now returns those that wait, without those that have waited long enough.
func (q *earlyNotices) now(now time.Time) []*early {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.remove(func(e *early) bool { return now.Sub(e.at) >= earlyLife })
	return slices.Clone(q.waiting)
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

// toAsk picks one delivery of each account to ask the provider about, of the sender
// that has waited longest for that: one that sends many gets no more of it.
func (q *earlyNotices) toAsk(now time.Time) map[string]*early {
	q.mu.Lock()
	defer q.mu.Unlock()
	picked := map[string]*early{}
	for _, e := range q.waiting {
		if e.asked || now.Sub(e.at) < earlyAsk {
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

// Known reports whether any of what was received names a payment that is known here.
// Calls that come at the same time share a read. It returns ErrUnavailable.
func (s *Service) Known(ctx context.Context, received []Received) (bool, error) {
	k := &knowing{names: referencesOf(received)}
	if len(k.names) == 0 {
		return false, nil
	}
	if err := inTime(ctx, s.knows, k); err != nil {
		return false, err
	}
	return k.known, nil
}

// knowing is one call of Known.
type knowing struct {
	names []Reference
	known bool
}

func (s *Service) knowAll(ctx context.Context, calls []*knowing) error {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	var names []Reference
	for _, k := range calls {
		names = append(names, k.names...)
	}
	owners, err := s.store.ReferencesKnown(ctx, sorted(names))
	for _, k := range calls {
		k.known = slices.ContainsFunc(k.names, func(r Reference) bool { _, there := owners[r]; return there })
	}
	return err
}

func referencesOf(received []Received) []Reference {
	var names []Reference
	for _, r := range received {
		for _, name := range append(slices.Clone(r.Event.References), r.Event.ProviderPaymentID) {
			if name != "" && r.Event.Kind != webhooks.KindIgnored {
				names = append(names, Reference{r.Account, storableName(name)})
			}
		}
	}
	return sorted(names)
}

// Early keeps what nobody signed and names no payment that is known here, for a
// minute, in memory only. It returns ErrOverloaded if there is no room for more of the
// sender or of all.
func (s *Service) Early(sender string, received []Received) error {
	if len(referencesOf(received)) == 0 {
		return nil // it can be of no payment
	}
	e := &early{received: received, sender: sender, at: s.now()}
	for _, r := range received {
		e.size += len(r.Body)
		for name, value := range r.Headers {
			e.size += len(name) + len(value)
		}
	}
	if !s.early.put(e) {
		return ErrOverloaded
	}
	return nil
}

// RetryEarly takes in those early notices whose payment has become known. It returns
// questions, each to the provider of another account, about one that has not; they may be
// asked at the same time. What a provider says counts only to find out whose the payment
// is: it is asked again when the notice is taken in.
func (s *Service) RetryEarly(ctx context.Context) (questions []func(context.Context) error, err error) {
	waiting := s.early.now(s.now())
	if len(waiting) == 0 {
		return nil, nil
	}
	var names []Reference
	for _, e := range waiting {
		names = append(names, referencesOf(e.received)...)
	}
	owners, err := s.store.ReferencesKnown(ctx, sorted(names))
	if err != nil {
		return nil, err
	}
	for _, e := range waiting {
		if slices.ContainsFunc(referencesOf(e.received), func(r Reference) bool { _, there := owners[r]; return there }) {
			if err := s.admit(ctx, e); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range s.early.toAsk(s.now()) {
		questions = append(questions, func(ctx context.Context) error { return s.askEarly(ctx, e) })
	}
	return questions, nil
}

func (s *Service) admit(ctx context.Context, e *early) error {
	if _, err := s.Intake(ctx, e.received); err != nil {
		return err
	}
	s.early.drop(e)
	return nil
}

// askEarly takes a notice in if its provider says that the payment is one of ours. One
// that got no answer stays where it is, for its name to appear.
func (s *Service) askEarly(ctx context.Context, e *early) error {
	for _, r := range e.received {
		f, err := s.fetch(ctx, r)
		if err != nil || f == nil {
			continue
		}
		r.Event.References = f.names(r.Event)
		if known, err := s.Known(ctx, []Received{r}); err != nil || known {
			if err == nil {
				err = s.admit(ctx, e)
			}
			return err
		}
	}
	return nil
}
