package worker

import (
	"cmp"
	"context"
	"sync"

	"github.com/paylatch/paylatch/internal/payment"
)

const (
	// fetchParallel bounds how many events of one account are fetched at a time,
	// fetchWaiting how many of them wait. What finds no place has not been tried.
	fetchParallel = 4
	fetchWaiting  = 256
)

// fetching fetches events, each account's by themselves: a provider that is slow
// holds up nobody else's. No event is fetched twice at once.
type fetching struct {
	fetch func(ctx context.Context, e payment.StoredEvent) error
	all   sync.WaitGroup

	mu      sync.Mutex
	waiting map[string][]payment.StoredEvent
	askers  map[string]int
	// known are the events that wait or are being fetched.
	known map[payment.EventID]bool
	// err is the first failure since somebody asked.
	err error
}

func newFetching(fetch func(ctx context.Context, e payment.StoredEvent) error) *fetching {
	return &fetching{
		fetch: fetch, waiting: map[string][]payment.StoredEvent{}, askers: map[string]int{}, known: map[payment.EventID]bool{},
	}
}

// begin has those events fetched that need it, and does not wait for it.
func (f *fetching) begin(ctx context.Context, events []payment.StoredEvent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range events {
		if !e.Event.NeedsFetch || f.known[e.ID] || len(f.waiting[e.Account]) >= fetchWaiting {
			continue
		}
		f.known[e.ID] = true
		f.waiting[e.Account] = append(f.waiting[e.Account], e)
		if f.askers[e.Account] < fetchParallel {
			f.askers[e.Account]++
			f.all.Go(func() { f.ask(ctx, e.Account) })
		}
	}
}

// ask fetches what waits of an account, until nothing does or ctx ends.
func (f *fetching) ask(ctx context.Context, account string) {
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
		f.askers[account]--
		return e, false
	}
	f.waiting[account] = waiting[1:]
	return waiting[0], true
}

func (f *fetching) done(e payment.StoredEvent, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.known, e.ID)
	f.err = cmp.Or(f.err, err)
}

// failed returns what went wrong first since it was asked the last time.
func (f *fetching) failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.err
	f.err = nil
	return err
}
