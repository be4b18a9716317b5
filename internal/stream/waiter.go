package stream

import "sync/atomic"

// Waiter is one who waits for one thing. Its methods are called from one
// goroutine at a time.
type Waiter[T any] struct {
	hub  *Hub[T]
	news atomic.Pointer[state[T]]

	// What follows is guarded by the hub.
	id    ID
	party Party
	// at is the place among the topic's waiters.
	at int
	// told is the version that the waiter knows, or is just being told of.
	told int
	wake func()
}

// state is a value as all waiters share it.
type state[T any] struct {
	value   T
	version int
}

// Party is a group of waiters of which only so many may wait at once.
type Party struct {
	Name string
	// Most is how many; 0 for any number.
	Most int
}

// Join makes a waiter for a thing, of a party. Whoever joins must leave. It returns
// ErrCrowded where the party may not have one more, ErrFull or ErrEnded.
func (h *Hub[T]) Join(id ID, of Party) (*Waiter[T], error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over() {
		return nil, ErrEnded
	}
	if h.waiting >= h.opts.Limit {
		h.counts.refused.Add(1)
		return nil, ErrFull
	}
	if of.Most > 0 && h.parties[of.Name] >= of.Most {
		h.counts.refused.Add(1)
		return nil, ErrCrowded
	}
	t := h.topics[id]
	if t == nil {
		t = &topic[T]{}
		h.topics[id] = t
	}
	if of.Most > 0 {
		h.parties[of.Name]++
	}
	w := &Waiter[T]{hub: h, id: id, party: of, at: len(t.waiters)}
	t.waiters = append(t.waiters, w)
	h.waiting++
	h.within.Add(1)
	return w, nil
}

// Leave ends the waiting.
func (w *Waiter[T]) Leave() {
	h := w.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[w.id]
	last := len(t.waiters) - 1
	t.waiters[w.at] = t.waiters[last]
	t.waiters[w.at].at = w.at
	t.waiters[last] = nil
	t.waiters = t.waiters[:last]
	if last == 0 {
		delete(h.topics, w.id)
		delete(h.changed, w.id)
	}
	if name := w.party.Name; w.party.Most > 0 {
		if h.parties[name]--; h.parties[name] == 0 {
			delete(h.parties, name)
		}
	}
	w.wake = nil
	h.waiting--
	h.within.Done()
}

// Arm says which version the waiter has read since it joined, and how it is to be
// woken when Next or Ended has something new to say. What came before this call
// wakes nobody: ask Next once after it. The call of wake must not wait for anything;
// it may come once more after the waiter has left.
func (w *Waiter[T]) Arm(version int, wake func()) {
	h := w.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	w.told, w.wake = max(w.told, version), wake
	t := h.topics[w.id]
	if t.version == 0 {
		t.version = version
	}
	if t.version != version {
		// Somebody has missed a change, this one or those who were here before.
		t.version = min(t.version, version)
		h.changed[w.id] = struct{}{}
		poke(h.stir)
	}
}

// Next returns the last state that the waiter was told of, if it is above a
// version.
func (w *Waiter[T]) Next(above int) (value T, ok bool) {
	s := w.news.Load()
	if s == nil || s.version <= above {
		return value, false
	}
	return s.value, true
}

// Ended reports whether the hub has ended: there will be no news any more.
func (w *Waiter[T]) Ended() bool { return w.hub.over() }

// tell gives the waiter a state that it has not been told of.
func (w *Waiter[T]) tell(s *state[T], wakes []func()) []func() {
	if w.told >= s.version {
		return wakes
	}
	w.told = s.version
	w.news.Store(s)
	w.hub.counts.woken.Add(1)
	return w.alarm(wakes)
}

// alarm adds what wakes the waiter, if it sleeps yet.
func (w *Waiter[T]) alarm(wakes []func()) []func() {
	if w.wake == nil {
		return wakes
	}
	return append(wakes, w.wake)
}
