package worker

import (
	"cmp"
	"context"
	"sync"

	"github.com/paylatch/paylatch/internal/payment"
)

const (
	// fetchParallel is how many events of one account are fetched at a time; fetchWaiting is how many more may wait. An
	// event beyond these counts as not tried.
	fetchParallel = 4
	fetchWaiting  = 256
)

// fetching fetches events with a queue for each account, so that a slow provider delays no other's. No event is fetched
// twice at once.
type fetching struct {
	fetch func(ctx context.Context, e payment.StoredEvent) error
	all   sync.WaitGroup

	mu      sync.Mutex
	waiting map[string][]payment.StoredEvent
	running map[string]int
	// queued are the events that wait or are being fetched.
	queued map[payment.EventID]bool
	// err is the first failure since the last call of failed.
	err error
}

func newFetching(fetch func(ctx context.Context, e payment.StoredEvent) error) *fetching {
	return &fetching{
		fetch: fetch, waiting: map[string][]payment.StoredEvent{}, running: map[string]int{}, queued: map[payment.EventID]bool{},
	}
}

// begin starts fetching the events that need it, and does not wait for them.
func (f *fetching) begin(ctx context.Context, events []payment.StoredEvent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range events {
		if !e.Event.NeedsFetch || f.queued[e.ID] || len(f.waiting[e.Account]) >= fetchWaiting {
			continue
		}
		f.queued[e.ID] = true
		f.waiting[e.Account] = append(f.waiting[e.Account], e)
		if f.running[e.Account] < fetchParallel {
			f.running[e.Account]++
			f.all.Go(func() { f.run(ctx, e.Account) })
		}
	}
}

// run fetches an account's waiting events until none is left or ctx ends.
func (f *fetching) run(ctx context.Context, account string) {
	for {
		e, ok := f.next(ctx, account)
		if !ok {
			return
		}
		f.done(e, caught(func() error { return f.fetch(ctx, e) }))
	}
}

func (f *fetching) next(ctx context.Context, account string) (e payment.StoredEvent, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	waiting := f.waiting[account]
	if len(waiting) == 0 || ctx.Err() != nil {
		f.running[account]--
		return e, false
	}
	f.waiting[account] = waiting[1:]
	return waiting[0], true
}

func (f *fetching) done(e payment.StoredEvent, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.queued, e.ID)
	f.err = cmp.Or(f.err, err)
}

// failed returns the first failure since the last call.
func (f *fetching) failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.err
	f.err = nil
	return err
}
