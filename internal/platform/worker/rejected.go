package worker

import (
	"context"
	"time"
)

const (
	keepRejectedEvery   = time.Second
	verifyRejectedEvery = 10 * time.Second
)

// Rejected stores and verifies rejected deliveries.
type Rejected interface {
	// Flush stores the deliveries that wait in memory.
	Flush(ctx context.Context) error
	// VerifyAgain verifies a portion of the deliveries that another configuration rejected.
	VerifyAgain(ctx context.Context) (more bool, err error)
}

// KeepRejected stores the deliveries that were rejected since its last run.
func KeepRejected(r Rejected) Loop {
	return Loop{Name: "keep rejected", Every: keepRejectedEvery, Do: func(ctx context.Context) (bool, error) { return false, r.Flush(ctx) }}
}

// VerifyRejected verifies rejected deliveries again after a change of their account's configuration.
func VerifyRejected(r Rejected) Loop {
	return Loop{Name: "verify rejected", Every: verifyRejectedEvery, Do: r.VerifyAgain}
}

// RejectedPurger deletes old rejected deliveries.
type RejectedPurger interface {
	// PurgeRejected deletes at most limit deliveries that are older than keep, and returns their number.
	PurgeRejected(ctx context.Context, keep time.Duration, limit int) (int, error)
}

// PurgeRejected deletes the rejected deliveries that are older than keep.
func PurgeRejected(p RejectedPurger, keep time.Duration) Loop {
	return Loop{Name: "purge rejected", Every: sweepEvery, Do: func(ctx context.Context) (bool, error) {
		n, err := p.PurgeRejected(ctx, keep, sweepBatch)
		return n == sweepBatch, err
	}}
}
