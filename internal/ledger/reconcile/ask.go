package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

const (
	// askParallel is how many lookups of an account are under way at once.
	askParallel = 8
	// askTries is how often a payment is looked up while the provider is spared, or another runner has the attempt: for half a minute.
	askTries = 6
	askPause = time.Second
)

// askAll looks up the attempts that were not looked up yet, a few at a time, and passes each outcome to done, in the
// order of the attempts. It fails only with the storage or the context.
func (j *job) askAll(ctx context.Context, ids []payment.AttemptID, done func(payment.AttemptID, error)) error {
	fresh := ids[:0:0]
	for _, id := range ids {
		if !j.asked[id] {
			j.asked[id] = true
			fresh = append(fresh, id)
		}
	}
	answers := make([]error, len(fresh))
	slots := make(chan struct{}, askParallel)
	var all sync.WaitGroup
	for i, id := range fresh {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			answers[i] = j.lookUp(ctx, id)
		})
	}
	all.Wait()
	for i, id := range fresh {
		if err := answers[i]; errors.Is(err, payment.ErrUnavailable) || ctx.Err() != nil {
			return fmt.Errorf("look attempt %s up: %w", id, errors.Join(err, ctx.Err()))
		}
		done(id, answers[i])
	}
	return nil
}

// lookUp looks one attempt up, again while it is only put off.
func (j *job) lookUp(ctx context.Context, id payment.AttemptID) (err error) {
	pause := askPause
	for try := 0; ; try++ {
		var v payment.View
		v, err = j.Payments.Ask(ctx, id, payment.Cause{Kind: payment.CauseCheck, ID: "reconcile"})
		if err == nil && j.AccountOf(v.Attempt).Merchant != v.Merchant {
			return gateway.ErrUnsupported // the merchant of now does not have it
		}
		if late := errors.Is(err, gateway.ErrThrottled) || errors.Is(err, payment.ErrBusy); !late || try == askTries-1 {
			return err
		}
		if err := j.Pause(ctx, pause); err != nil {
			return err
		}
		pause *= 2
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // it was interrupted
	case <-timer.C:
		return nil
	}
}
