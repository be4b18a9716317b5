package endpoint

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
)

// Pass takes the lease, makes one pass and gives the lease back.
func (s *Sender) Pass(ctx context.Context) error { return s.passOnce(ctx, false) }

// Keep is Pass a while after the cursor was kept.
func (s *Sender) Keep(ctx context.Context) error { return s.passOnce(ctx, true) }

func (s *Sender) passOnce(ctx context.Context, keep bool) error {
	l, err := s.o.Store.TakeEndpoint(ctx, s.Name, s.times.Life)
	if err != nil {
		return err
	}
	if _, err := s.pass(ctx, l, outbox.Cursor{}, keep); err != nil {
		return err
	}
	return s.o.Store.RenewEndpoint(ctx, l, 0)
}

// Hasten shortens the pauses, and lets the lease live longer than a busy machine needs to renew it.
func (s *Sender) Hasten() {
	s.times = lease.Times{Life: time.Minute, RenewEvery: 200 * time.Millisecond, AskEvery: 100 * time.Millisecond}
}

// HastenPauses shortens the pause after a failure.
func (s *Sender) HastenPauses(d time.Duration) { s.times.AskEvery = d }

// Senders are those of a service.
func (v *Service) Senders() []*Sender { return v.senders }

// Wait exports wait.
func Wait(schedule []time.Duration, tries int, retryAfter time.Duration, jitter float64) (time.Duration, bool) {
	return wait(schedule, tries, retryAfter, jitter)
}
