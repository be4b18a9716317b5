package payment

import (
	"context"
	"sync"
	"time"
)

// Silence is an account from which nothing has been heard while attempts wait for
// its news: its endpoint may be disabled at the provider, or lead elsewhere. What
// nobody signed is heard once the provider has confirmed it of a payment of ours.
type Silence struct {
	Account string
	// Pending is how many attempts wait, Since when the first of them began.
	Pending int
	Since   time.Time
	// HeardAt is when the last webhook came; nil if none ever did.
	HeardAt *time.Time
}

// Silent lists the accounts that are silent. The provider is asked about their
// attempts all the same. It only knows what NoteHeard has noted.
func (s *Service) Silent(ctx context.Context) ([]Silence, error) {
	var hearing []string
	for name, account := range s.opts.Accounts {
		if account.Hears {
			hearing = append(hearing, name)
		}
	}
	return s.store.Silent(ctx, hearing, s.opts.SilentAfter)
}

// NoteHeard notes which accounts this process has heard from since the last time.
// It is called a few times a minute, so that the intake has nothing to write.
func (s *Service) NoteHeard(ctx context.Context) error {
	heard := s.heard.take()
	if len(heard) == 0 {
		return nil
	}
	err := s.store.NoteHeard(ctx, heard)
	if err != nil {
		for account, at := range heard {
			s.heard.from(account, at)
		}
	}
	return err
}

// hearing keeps when accounts were last heard from.
type hearing struct {
	mu   sync.Mutex
	last map[string]time.Time
}

func (h *hearing) from(account string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil {
		h.last = map[string]time.Time{}
	}
	if at.After(h.last[account]) {
		h.last[account] = at
	}
}

func (h *hearing) take() map[string]time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	heard := h.last
	h.last = nil
	return heard
}
