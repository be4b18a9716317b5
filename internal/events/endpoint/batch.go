package endpoint

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
)

// passTime is the time within which one pass may begin requests, so that their results are recorded soon.
const passTime = 10 * time.Second

// lane is a sequence of events that are sent one after the other: the new events of one subject, or a retry.
type lane struct {
	events []outbox.Event
	// tries were made of the retry; 0 for new events.
	tries int
}

// lanes sorts work by subject. Retries and new events take turns, so that neither kind waits for all of the other. New events
// that must wait for a retry of their subject are returned as behind.
func lanes(w Work) (all []lane, behind []outbox.Event) {
	var fresh []lane
	at := map[string]int{}
	for _, e := range w.Events {
		if w.Waiting[e.Subject] {
			behind = append(behind, e)
			continue
		}
		if _, known := at[e.Subject]; !known {
			at[e.Subject] = len(fresh)
			fresh = append(fresh, lane{})
		}
		l := &fresh[at[e.Subject]]
		l.events = append(l.events, e)
	}
	for i := range max(len(fresh), len(w.Due)) {
		if i < len(w.Due) {
			// A retry that was not tried yet is no new event: its row exists.
			all = append(all, lane{[]outbox.Event{w.Due[i].Event}, w.Due[i].Tries})
		}
		if i < len(fresh) {
			all = append(all, fresh[i])
		}
	}
	return all, behind
}

// batch is one pass over some work. Its result is complete once deliver has returned without an error.
type batch struct {
	sender *Sender
	until  time.Time
	old    map[outbox.Position]bool

	mu     sync.Mutex
	result Result
	broke  error
}

// deliver sends the work. If ctx or the pass ends or the endpoint is gone, unsent events are left for later. It returns an
// error and no result after a panic outside a request.
func (s *Sender) deliver(ctx context.Context, w Work) (Result, error) {
	b := &batch{sender: s, until: s.o.Now().Add(passTime), old: map[outbox.Position]bool{}, result: Result{Position: w.Until}}
	for _, r := range w.Due {
		b.old[r.Event.Position] = true
	}
	all, behind := lanes(w)
	b.putOff(behind)
	work := make(chan lane)
	var sending sync.WaitGroup
	for range min(atOnce, len(all)) {
		sending.Go(func() {
			for l := range work {
				b.guarded(ctx, l)
			}
		})
	}
	for _, l := range all {
		work <- l
	}
	close(work)
	sending.Wait()
	return b.result, b.broke
}

// guarded sends a lane. A panic ends the pass.
func (b *batch) guarded(ctx context.Context, l lane) {
	err := lease.Guard(func() error {
		b.send(ctx, l)
		return nil
	})
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.broke = errors.Join(b.broke, err)
	}
}

// send sends the events of a lane up to the first that fails.
func (b *batch) send(ctx context.Context, l lane) {
	for i, e := range l.events {
		if b.over(ctx) {
			b.putOff(l.events[i:])
			return
		}
		a, later := b.try(ctx, e)
		if a.Error != "" && ctx.Err() != nil {
			b.putOff(l.events[i:]) // paylatch itself cut the request off: this is no failure of the receiver
			return
		}
		if !b.record(e, l.tries+1, a, later) {
			b.putOff(l.events[i+1:])
			return
		}
	}
}

// try makes one request. A panic is logged and fails that event alone.
func (b *batch) try(ctx context.Context, e outbox.Event) (a Attempt, later time.Duration) {
	err := lease.Guard(func() error {
		a, later = b.sender.client.Send(ctx, e)
		return nil
	})
	if err != nil {
		b.sender.o.Log(b.sender.Name, fmt.Errorf("send event %s: %w", e.ID, err))
		a = Attempt{Position: e.Position, OrderID: e.OrderID, EventID: e.ID, At: b.sender.o.Now(), Error: "not sent, because of a fault in paylatch; the log has the fault"}
	}
	return a, later
}

func (b *batch) over(ctx context.Context) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.broke != nil || b.result.Gone || ctx.Err() != nil || !b.sender.o.Now().Before(b.until)
}

// putOff makes retries of new events, which are due once they are the first of their subject. Retries stay as they are.
func (b *batch) putOff(events []outbox.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range events {
		if !b.old[e.Position] {
			b.result.Retries = append(b.result.Retries, Retry{Event: e, New: true})
		}
	}
}

// record keeps the outcome of a request, and reports whether the event was delivered.
func (b *batch) record(e outbox.Event, tries int, a Attempt, later time.Duration) (delivered bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.result.Attempts = append(b.result.Attempts, a)
	if a.Error == "" {
		b.result.Delivered = append(b.result.Delivered, e)
		return true
	}
	if a.Status == statusGone {
		b.result.Gone = true
	}
	pause, again := wait(b.sender.schedule, tries, later, b.sender.o.Jitter())
	b.result.Retries = append(b.result.Retries, Retry{
		Event: e, New: !b.old[e.Position], Tries: tries, Pause: pause, Dead: !again, Status: a.Status, Error: a.Error,
	})
	return false
}
