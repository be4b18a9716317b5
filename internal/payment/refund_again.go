package payment

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/idempotency"
)

// refundAgain answers a request whose refund exists, with the refund as it is
// now: after the runner that has it is done, or instead of one that died. It
// returns ErrInProgress when the runner is still at it after the wait.
func (s *Service) refundAgain(ctx context.Context, r Refund) (Refunded, error) {
	r, err := s.awaitRefund(ctx, r)
	switch {
	case err != nil:
		return Refunded{}, err
	case r.State.Final(), r.LeaseUntil == nil:
		return Refunded{r, idempotency.Reused}, nil
	case r.leased(r.ReadAt):
		return Refunded{}, idempotency.ErrInProgress
	}
	r, err = s.RecheckRefund(ctx, r.ID, Cause{Kind: CauseCheck, ID: "retry"})
	return Refunded{r, idempotency.Reused}, err
}

// awaitRefund looks again until nobody holds the refund's lease or the wait is
// over.
func (s *Service) awaitRefund(ctx context.Context, r Refund) (Refund, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Wait)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for r.leased(r.ReadAt) {
		select {
		case <-ctx.Done():
			return r, nil
		case <-tick.C:
		}
		next, err := s.store.Refund(ctx, r.ID)
		if ctx.Err() != nil {
			return r, nil // the wait is over: what was read last counts
		}
		if err != nil {
			return r, err
		}
		r = next
	}
	return r, nil
}
