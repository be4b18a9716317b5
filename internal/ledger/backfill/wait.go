package backfill

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

// transient reports whether the same may be taken in later.
func transient(err error) bool {
	return errors.Is(err, payment.ErrOverloaded) || errors.Is(err, payment.ErrUnavailable)
}

// wait waits between two tries, and reports false if ctx ends.
func wait(ctx context.Context) bool {
	pause := time.NewTimer(takePause)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-pause.C:
		return true
	}
}
