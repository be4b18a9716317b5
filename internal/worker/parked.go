package worker

import (
	"context"
	"time"
)

const (
	parkedEvery = 500 * time.Millisecond
	parkedBatch = 64
)

// Parked is what the parked loop needs of package payment.
type Parked interface {
	RetryParked(ctx context.Context, limit int) (int, error)
}

// RetryParked tries parked events whose time has come.
func RetryParked(p Parked) Loop {
	return Loop{Name: "parked", Every: parkedEvery, Do: func(ctx context.Context) (bool, error) {
		n, err := p.RetryParked(ctx, parkedBatch)
		return n == parkedBatch, err
	}}
}
