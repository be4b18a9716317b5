package stream

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// readAtOnce bounds one statement that reads what has changed.
	readAtOnce = 500
	// lookEvery is how long a change can go unnoticed of which nobody was told.
	lookEvery = time.Second
	// A connection that is lost is opened again after a while, which grows.
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// listen hears what other processes announce. What was said while the connection
// was gone is looked for as soon as it is back.
func (h *Hub[T]) listen(ctx context.Context) {
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, lastPause) {
		err := h.opts.Bus.Listen(ctx, func() {
			pause = firstPause
			h.counts.listening.Store(true)
			poke(h.look)
		}, h.hear)
		h.counts.listening.Store(false)
		if ctx.Err() != nil {
			return
		}
		h.opts.Log(fmt.Errorf("listen for changes: %w", err))
		rest(ctx, pause/2+rand.N(pause)) //nolint:gosec // spreads load, guards nothing
	}
}

func (h *Hub[T]) hear(notice string) {
	name, ids := readNotice(notice)
	if name == h.name {
		return // the waiters here were told at once
	}
	h.counts.heard.Add(1)
	h.mark(ids)
}

// read reads what has changed and tells it. While a statement is on its way the
// next changes gather. What could not be read is found by compare.
func (h *Hub[T]) read(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.stir:
		}
		for ids := range slices.Chunk(h.take(), readAtOnce) {
			h.counts.reads.Add(1)
			values, err := h.opts.Read(ctx, ids)
			if err != nil {
				h.failed(ctx, "read what has changed", err)
				break
			}
			h.tell(values)
		}
	}
}

func (h *Hub[T]) take() []ID {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := make([]ID, 0, len(h.changed))
	for id := range h.changed {
		ids = append(ids, id)
	}
	clear(h.changed)
	return ids
}

func (h *Hub[T]) tell(values map[ID]T) {
	var wakes []func()
	h.mu.Lock()
	for id, value := range values {
		t := h.topics[id]
		if t == nil {
			continue
		}
		s := &state[T]{value, h.opts.Version(value)}
		t.version = s.version
		for _, w := range t.waiters {
			wakes = w.tell(s, wakes)
		}
	}
	h.mu.Unlock()
	for _, wake := range wakes {
		wake()
	}
}

// compare looks for changes of which nobody was told: each second, and when the
// connection is back that would have told of them.
func (h *Hub[T]) compare(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-h.look:
		}
		ids, versions := h.known()
		if len(ids) == 0 {
			continue
		}
		h.counts.looks.Add(1)
		moved, err := h.opts.Bus.Moved(ctx, ids, versions)
		if err != nil {
			h.failed(ctx, "look for changes", err)
			continue
		}
		h.mark(moved)
	}
}

// known returns what is waited for with the version that all waiters know.
func (h *Hub[T]) known() (ids []ID, versions []int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids, versions = make([]ID, 0, len(h.topics)), make([]int32, 0, len(h.topics))
	for id, t := range h.topics {
		if t.version > 0 {
			ids, versions = append(ids, id), append(versions, int32(t.version)) //nolint:gosec // a count of changes
		}
	}
	return ids, versions
}

func (h *Hub[T]) failed(ctx context.Context, doing string, err error) {
	if ctx.Err() == nil {
		h.opts.Log(fmt.Errorf("%s: %w", doing, err))
	}
}

// rest returns early when ctx ends.
func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
