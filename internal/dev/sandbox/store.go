package sandbox

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// store holds the state and the journal that restores it.
type store struct {
	now   func() time.Time
	loses func(number int) bool // whether an event is never delivered

	mu      sync.Mutex
	state   *state
	fresh   []job // not yet taken by Run
	journal *journal

	wake chan struct{}
}

func openStore(path string, now func() time.Time, loses func(number int) bool) (*store, error) {
	s := &store{now: now, loses: loses, state: newState(), wake: make(chan struct{}, 1)}
	var err error
	s.journal, err = openJournal(path, func(line []byte) error {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("not an entry: %w", err)
		}
		s.state.apply(e)
		return nil
	})
	return s, err
}

// tx is one change in progress. It shows the state before the change; the changes
// collected in entry are applied when its function returns.
type tx struct {
	*state

	entry entry
	now   time.Time
	lag   time.Duration // before the events go out
	loses func(number int) bool
	err   error // refuses the whole change
}

func (t *tx) putCharge(c chargeRecord) { t.entry.Charges = append(t.entry.Charges, c) }

// view shows the state, which must not be changed or kept.
func (s *store) view(fn func(*state)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn(s.state)
}

// update returns when the changes of fn are on disk, and so is all that fn read: a
// repeated response is as durable as the first. After an error the change may exist.
func (s *store) update(fn func(*tx)) error {
	if err := s.write(fn); err != nil {
		return err
	}
	return s.journal.sync()
}

// write returns when the changes of fn survive the end of this process, but perhaps not
// of the machine.
func (s *store) write(fn func(*tx)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &tx{state: s.state, now: s.now().Truncate(time.Microsecond), loses: s.loses}
	fn(t)
	if t.err != nil || t.entry.empty() {
		return t.err
	}
	line, err := json.Marshal(t.entry)
	if err != nil {
		return fmt.Errorf("encode entry: %w", err)
	}
	if err := s.journal.append(line); err != nil {
		return err
	}
	s.state.apply(t.entry)
	s.offer(s.state.jobsOf(t.entry))
	return nil
}

func (s *store) offer(jobs []job) {
	if len(jobs) == 0 {
		return
	}
	s.fresh = append(s.fresh, jobs...)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// takeAll returns every job that is not done, for a Run that begins.
func (s *store) takeAll() []job {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fresh = nil
	return s.state.jobs()
}

// takeFresh returns the jobs that came since the last take.
func (s *store) takeFresh() []job {
	s.mu.Lock()
	defer s.mu.Unlock()
	jobs := s.fresh
	s.fresh = nil
	return jobs
}

// delivered returns a channel that closes once the event was received, or nil if
// there is nothing to wait for.
func (s *store) delivered(event string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ev, waiting := s.state.events[event]; waiting {
		return ev.done
	}
	return nil
}

func (s *store) close() error { return s.journal.close() }
