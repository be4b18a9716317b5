package stream

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// readAtOnce bounds the number of topics that one statement reads.
	readAtOnce = 500
	// compareEvery bounds the time until a change with a lost notice is found.
	compareEvery = time.Second
	// A lost connection is opened again after a pause, which grows.
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// listen receives the notices of other processes. A comparison finds changes that were announced while the connection was lost,
// as soon as it is back.
func (h *Hub[T]) listen(ctx context.Context) {
	for wait := firstPause; ctx.Err() == nil; wait = min(2*wait, lastPause) {
		err := h.opts.Bus.Listen(ctx, func() {
			wait = firstPause
			h.counts.listening.Store(true)
			signal(h.compareNow)
		}, h.receive)
		h.counts.listening.Store(false)
		if ctx.Err() != nil {
			return
		}
		h.opts.Log(fmt.Errorf("listen for changes: %w", err))
		pause(ctx, wait/2+rand.N(wait)) //nolint:gosec // spreads load, guards nothing
	}
}

func (h *Hub[T]) receive(notice string) {
	name, ids := readNotice(notice)
	if name == h.name {
		return // Changed has woken the waiters here
	}
	h.counts.received.Add(1)
	h.mark(ids)
}

// read reads the changed topics and wakes their waiters. Changes that come while a statement is under way share the next
// statement. If a read fails, compare finds the changes.
func (h *Hub[T]) read(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.readNow:
		}
		for ids := range slices.Chunk(h.take(), readAtOnce) {
			h.counts.reads.Add(1)
			values, err := h.opts.Read(ctx, ids)
			if err != nil {
				h.failed(ctx, "read what has changed", err)
				break
			}
			h.deliver(values)
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

func (h *Hub[T]) deliver(values map[ID]T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, value := range values {
		t := h.topics[id]
		if t == nil {
			continue
		}
		next := &state[T]{value, h.opts.Version(value)}
		t.version = next.version
		for _, s := range t.subscriptions {
			s.deliver(next)
		}
	}
}

// compare finds changes with a lost notice: each second, and when the connection for notices is back.
func (h *Hub[T]) compare(ctx context.Context) {
	tick := time.NewTicker(compareEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-h.compareNow:
		}
		ids, versions := h.versions()
		if len(ids) == 0 {
			continue
		}
		h.counts.compares.Add(1)
		moved, err := h.opts.Bus.Moved(ctx, ids, versions)
		if err != nil {
			h.failed(ctx, "compare versions", err)
			continue
		}
		h.mark(moved)
	}
}

// versions returns the topics, each with a version that all its waiters have seen.
func (h *Hub[T]) versions() (ids []ID, versions []int32) {
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

// pause returns early when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
