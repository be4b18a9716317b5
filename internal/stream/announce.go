package stream

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// announceEvery is the least time between two statements that announce: under
	// load many commits share one, a lone one is told of at once.
	announceEvery = 20 * time.Millisecond
	// announceTime bounds one such statement, the last one of a process included.
	announceTime = 2 * time.Second
	// unannounced bounds what gathers while the storage does not answer. What is
	// beyond it the others find by looking.
	unannounced = 1 << 16
)

// announcer gathers what is to be announced.
type announcer struct {
	mu   sync.Mutex
	ids  map[ID]struct{}
	some chan struct{}
}

func newAnnouncer() announcer {
	return announcer{ids: make(map[ID]struct{}), some: make(chan struct{}, 1)}
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
		poke(a.some)
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

// Announce tells the other processes what Changed was told, until ctx ends, and
// then what is left. It must outlive everybody who commits.
func (h *Hub[T]) Announce(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			h.announce(ctx)
			return nil
		case <-h.announcer.some:
		}
		pause := announceEvery
		if !h.announce(ctx) {
			pause = lookEvery
		}
		rest(ctx, pause)
	}
}

// announce sends once and reports false if that failed. What fails is not sent again:
// the others look each second.
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
