package stream

import "sync/atomic"

// Subscription gives the states of one topic to one waiter. Its methods are called from one goroutine at a time.
type Subscription[T any] struct {
	hub    *Hub[T]
	latest atomic.Pointer[state[T]]

	// The hub's lock guards the following fields.
	id     ID
	groups []Group
	// index is the place among the topic's subscriptions.
	index int
	// seen is the version that the waiter has read, or is being woken for.
	seen int
	wake func()
}

// state is a value as all waiters share it.
type state[T any] struct {
	value   T
	version int
}

// Group is a name that has only so many slots for subscriptions.
type Group struct {
	Name string
	// Slots is how many; 0 for any number.
	Slots int
}

// Subscribe opens a subscription to a topic; the caller must close it. The subscription takes a slot of each group, or no slot
// at all if it fails. It returns ErrGroupFull, ErrFull or ErrEnded.
func (h *Hub[T]) Subscribe(id ID, groups ...Group) (*Subscription[T], error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over() {
		return nil, ErrEnded
	}
	if h.waiters >= h.opts.Limit {
		h.counts.refused.Add(1)
		return nil, ErrFull
	}
	if err := h.reserve(groups); err != nil {
		return nil, err
	}
	t := h.topics[id]
	if t == nil {
		t = &topic[T]{}
		h.topics[id] = t
	}
	s := &Subscription[T]{hub: h, id: id, groups: groups, index: len(t.subscriptions)}
	t.subscriptions = append(t.subscriptions, s)
	h.waiters++
	h.open.Add(1)
	return s, nil
}

// reserve takes a slot of each group, or no slot at all. The caller must hold the hub's lock.
func (h *Hub[T]) reserve(groups []Group) error {
	for i, g := range groups {
		if g.Slots > 0 && h.groups[g.Name] >= g.Slots {
			h.release(groups[:i])
			h.counts.refused.Add(1)
			return ErrGroupFull
		}
		if g.Slots > 0 {
			h.groups[g.Name]++
		}
	}
	return nil
}

// release gives slots back. It needs the hub's lock.
func (h *Hub[T]) release(groups []Group) {
	for _, g := range groups {
		if g.Slots == 0 {
			continue
		}
		if h.groups[g.Name]--; h.groups[g.Name] == 0 {
			delete(h.groups, g.Name)
		}
	}
}

// Join takes a slot of one more group. It returns ErrGroupFull; the subscription must be closed all the same.
func (s *Subscription[T]) Join(g Group) error {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	err := s.hub.reserve([]Group{g})
	if err == nil {
		s.groups = append(s.groups, g)
	}
	return err
}

// Limit is how many subscriptions may be open.
func (h *Hub[T]) Limit() int { return h.opts.Limit }

// Close ends the subscription.
func (s *Subscription[T]) Close() {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[s.id]
	last := len(t.subscriptions) - 1
	t.subscriptions[s.index] = t.subscriptions[last]
	t.subscriptions[s.index].index = s.index
	t.subscriptions[last] = nil
	t.subscriptions = t.subscriptions[:last]
	if last == 0 {
		delete(h.topics, s.id)
		delete(h.changed, s.id)
	}
	h.release(s.groups)
	h.waiters--
	h.open.Done()
}

// Start sets the version that the waiter has read since it subscribed, and the function that is called when Next or Ended has
// something new. Earlier changes do not call it: Next returns them already. The function wake must not block or call the hub.
func (s *Subscription[T]) Start(version int, wake func()) {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	s.seen, s.wake = max(s.seen, version), wake
	t := h.topics[s.id]
	if t.version == 0 {
		t.version = version
	}
	if t.version != version {
		// One of the subscriptions has missed a change, this one or an earlier one.
		t.version = min(t.version, version)
		h.changed[s.id] = struct{}{}
		signal(h.readNow)
	}
}

// Next returns the last state if its version is above the given one: of several changes the waiter may see only the last.
func (s *Subscription[T]) Next(above int) (value T, ok bool) {
	last := s.latest.Load()
	if last == nil || last.version <= above {
		return value, false
	}
	return last.value, true
}

// Ended reports whether the hub has ended: no state will come any more.
func (s *Subscription[T]) Ended() bool { return s.hub.over() }

// deliver needs the hub's lock.
func (s *Subscription[T]) deliver(next *state[T]) {
	if s.seen >= next.version {
		return
	}
	s.seen = next.version
	s.latest.Store(next)
	s.hub.counts.woken.Add(1)
	s.call()
}

// call needs the hub's lock.
func (s *Subscription[T]) call() {
	if s.wake != nil {
		s.wake()
	}
}
