package worker

import (
	"cmp"
	"context"
	"sync"
)

// byAccount does the work of each account in a goroutine of its own, so that a slow
// provider delays no other account's. An account's work is never done twice at once.
type byAccount struct {
	work func(ctx context.Context, account string) error
	all  sync.WaitGroup

	mu   sync.Mutex
	busy map[string]bool
	// err is the first failure since it was last returned.
	err error
}

func newByAccount(work func(ctx context.Context, account string) error) *byAccount {
	return &byAccount{work: work, busy: map[string]bool{}}
}

// begin starts the work of those accounts that have no work under way. It does not wait for the work.
func (b *byAccount) begin(ctx context.Context, accounts []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, account := range accounts {
		if b.busy[account] {
			continue
		}
		b.busy[account] = true
		b.all.Go(func() {
			err := caught(func() error { return b.work(ctx, account) })
			b.mu.Lock()
			defer b.mu.Unlock()
			delete(b.busy, account)
			b.err = cmp.Or(b.err, err)
		})
	}
}

// failed returns the first failure since the last call.
func (b *byAccount) failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.err
	b.err = nil
	return err
}
