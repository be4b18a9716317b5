package overview

import (
	"context"
	"time"
)

// kept is how long hours are kept, which is longer than anything that is shown.
const kept = 400 * 24 * time.Hour

// Count counts a portion of the new events, and reports whether more wait. Any number of processes may call it: they take turns.
func (s *Service) Count(ctx context.Context) (more bool, err error) {
	added, more, err := s.Store.Count(ctx)
	if err != nil {
		return false, err
	}
	recent := s.Now().Truncate(time.Hour).Add(-time.Hour)
	for _, a := range added {
		if !a.Hour.Before(recent) {
			s.Added(a.Subject, a.Account, a.Status, a.Code, a.Count)
		}
	}
	return more, nil
}

// Purge deletes hours that nothing shows any more.
func (s *Service) Purge(ctx context.Context) error { return s.Store.Purge(ctx, s.Now().Add(-kept)) }
