package stream

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// announceEvery is the minimum time between two announcing statements: under load many commits share a statement, and a
	// single commit is announced at once.
	announceEvery = 20 * time.Millisecond
	// announceTime bounds one such statement, the last one of a process included.
	announceTime = 2 * time.Second
	// unannounced bounds the queue while the storage does not answer. Other processes find the other changes by comparing
	// versions.
	unannounced = 1 << 16
)

// announcer queues the ids to announce.
type announcer struct {
	mu   sync.Mutex
	ids  map[ID]struct{}
	wake chan struct{}
}

func newAnnouncer() announcer {
	return announcer{ids: make(map[ID]struct{}), wake: make(chan struct{}, 1)}
}

func (a *announcer) add(ids []ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		if len(a.ids) < unannounced {
			a.ids[id] = struct{}{}
		}
	}
	if len(a.ids) > 0 {
		signal(a.wake)
	}
}

func (a *announcer) take() []ID {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := make([]ID, 0, len(a.ids))
	for id := range a.ids {
		ids = append(ids, id)
	}
	clear(a.ids)
	return ids
}

// Announce sends the ids from Changed to the other processes until ctx ends, and then the rest of the queue. It must outlive
// everything that commits.
func (h *Hub[T]) Announce(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			h.announce(ctx)
			return nil
		case <-h.announcer.wake:
		}
		wait := announceEvery
		if !h.announce(ctx) {
			wait = compareEvery
		}
		pause(ctx, wait)
	}
}

// announce reports whether it succeeded. Failed notices are not sent again, since the other processes compare versions each
// second.
func (h *Hub[T]) announce(ctx context.Context) bool {
	notices := writeNotices(h.name, h.announcer.take())
	if len(notices) == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), announceTime)
	defer cancel()
	if err := h.opts.Bus.Announce(ctx, notices); err != nil {
		h.opts.Log(fmt.Errorf("announce changes: %w", err))
		return false
	}
	h.counts.announced.Add(uint64(len(notices)))
	return true
}
