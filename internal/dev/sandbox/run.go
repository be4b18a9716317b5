package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Run delivers webhooks and carries out the plans of charges, until
// ctx ends. Then it returns nil, and the remaining work stays in the state file.
// Any other error means that the state file can no longer be written. Only one
// Run may be under way.
func (s *Server) Run(ctx context.Context) error {
	if !s.running.CompareAndSwap(false, true) {
		return errors.New("sandbox runs already")
	}
	defer s.running.Store(false)
	outer := ctx
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	defer wg.Wait()
	for jobs := s.store.takeAll(); ; jobs = s.store.takeFresh() {
		for _, j := range jobs {
			wg.Go(func() {
				if err := s.do(ctx, j); err != nil && ctx.Err() == nil {
					stop(err)
				}
			})
		}
		select {
		case <-s.store.wake:
		case <-ctx.Done():
			if outer.Err() != nil {
				return nil
			}
			return fmt.Errorf("keep state: %w", context.Cause(ctx))
		}
	}
}

func (s *Server) do(ctx context.Context, j job) error {
	// An event must not leave before the change that it reports is on disk.
	if err := s.store.journal.sync(); err != nil {
		return err
	}
	if j.event != nil {
		return s.deliver(ctx, j.event)
	}
	return s.carryOut(ctx, j.charge)
}

func (s *Server) deliver(ctx context.Context, ev *pendingEvent) error {
	if s.sender == nil {
		return nil
	}
	if earlier := s.store.delivered(ev.After); earlier != nil {
		select {
		case <-earlier:
		case <-ctx.Done():
			return nil
		}
	}
	if err := s.opts.Until(ctx, ev.At); err != nil {
		return err
	}
	if err := s.sender.Deliver(ctx, ev.Event); err != nil {
		return err
	}
	// Not synced: at worst the event is sent once more after a machine crash.
	return s.store.write(func(t *tx) { t.entry.Delivered = []string{ev.ID} })
}

func (s *Server) carryOut(ctx context.Context, c chargeRecord) error {
	if err := s.opts.Until(ctx, c.Plan.At); err != nil {
		return err
	}
	return s.store.update(func(t *tx) {
		now := t.charges[c.ID]
		if now.Plan == nil { // canceled meanwhile
			return
		}
		t.perform(&now, now.Plan.Do)
		t.putCharge(now)
	})
}
