package worker

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

const (
	parkedEvery = 500 * time.Millisecond
	parkedBatch = 64
)

// Parked retries parked events.
type Parked interface {
	RetryParked(ctx context.Context, limit int) ([]payment.StoredEvent, error)
	Fetch(ctx context.Context, e payment.StoredEvent) error
}

// RetryParked retries due parked events. Events that must be fetched are fetched meanwhile: it does not wait for the
// providers.
func RetryParked(p Parked) Loop {
	f := newFetching(p.Fetch)
	return Loop{Name: "parked", Every: parkedEvery, Essential: true, Rest: f.all.Wait, Do: func(ctx context.Context) (bool, error) {
		tried, err := p.RetryParked(ctx, parkedBatch)
		f.begin(ctx, tried)
		err = errors.Join(err, f.failed())
		for _, e := range tried {
			err = errors.Join(err, e.Unreadable)
		}
		return len(tried) == parkedBatch, err
	}}
}
