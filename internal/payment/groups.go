package payment

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/groupcommit"
	"github.com/paylatch/paylatch/webhooks"
)

// stall is how long calls wait for a transaction or a read before theirs. What takes longer
// may never end: its connection may be dead, and theirs need not be.
const stall = 250 * time.Millisecond

// share returns a group of calls that come at the same time and share a transaction or a read.
// A call says in itself what became of it.
func share[T any](flush func(ctx context.Context, calls []T) error) *groupcommit.Group[T] {
	return groupcommit.New(groupcommit.Options[T]{
		Flush: func(ctx context.Context, b *groupcommit.Batch[T]) error { return flush(ctx, b.Items) },
		Batch: groupcommit.Limits{Items: 64}, Stall: stall,
	})
}

// grouped is an error of a group in the terms of this package.
func grouped(err error) error {
	switch {
	case errors.Is(err, groupcommit.ErrFull):
		return ErrOverloaded
	case errors.Is(err, groupcommit.ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// arrival is an event on its way to the disk.
type arrival struct {
	Received
	digest  [32]byte
	verdict fsm.Verdict
	// quarantined events are stored and not applied.
	quarantined bool
}

func (a *arrival) key() EventKey { return EventKey{a.Account, a.Event.ID} }

// groupArrivals returns the group of webhooks that share a commit.
func (s *Service) groupArrivals() *groupcommit.Group[*arrival] {
	return groupcommit.New(groupcommit.Options[*arrival]{
		Flush: s.flushArrivals,
		Queue: groupcommit.Limits{Items: 4096, Bytes: 256 << 20}, Batch: groupcommit.Limits{Items: 128, Bytes: 4 << 20},
		Size: func(a *arrival) int { return len(a.Body) }, Keys: s.conflicts,
		Flushes: 4, Linger: 3 * time.Millisecond,
		Requeues: 400, RequeueAfter: 5 * time.Millisecond,
		Rejected: rejected, Quarantine: s.quarantine,
	})
}

// conflicts are hashes of an event's id and of what it names.
func (s *Service) conflicts(a *arrival) []uint64 {
	keys := append(make([]uint64, 0, 1+len(a.Event.References)), maphash.Comparable(s.seed, a.key()))
	for _, name := range a.Event.References {
		keys = append(keys, maphash.Comparable(s.seed, Reference{a.Account, name}))
	}
	return keys
}

func (s *Service) flushArrivals(ctx context.Context, b *groupcommit.Batch[*arrival]) error {
	err := s.takeIn(ctx, b.Items, false, b.Sent)
	for i, a := range b.Items {
		if a.verdict == "" {
			b.Requeue(i)
		}
	}
	return err
}

// quarantine stores an event that can't be applied, with nothing but its id and bytes if what
// it contains can't be stored, so that it is neither lost nor in the way. An event whose
// attempt is locked for too long is parked.
func (s *Service) quarantine(ctx context.Context, a *arrival, err error) error {
	store := func() error { return s.takeIn(ctx, []*arrival{a}, true, nil) }
	if errors.Is(err, groupcommit.ErrLocked) {
		err = store()
	}
	if rejected(err) {
		a.quarantined = true
		err = store()
	}
	if rejected(err) {
		a.Event = webhooks.Event{ID: a.Event.ID, IDSource: a.Event.IDSource, Kind: webhooks.KindNotice, SecretIndex: a.Event.SecretIndex}
		a.news = nil
		err = store()
	}
	return err
}

// rejected reports whether the storage is there but does not take what it was given.
func rejected(err error) bool { return err != nil && !errors.Is(err, ErrUnavailable) }
