package idempotency

import (
	"context"
	"fmt"
	"time"
)

// QuotaError is returned when a user has used too many new keys.
type QuotaError struct {
	// RetryAfter is when the next new key will be taken.
	RetryAfter time.Duration
}

// Error implements error.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("too many new idempotency keys; try again in %s", e.RetryAfter)
}

// Quota bounds how many new keys a user may use in a window of time, over all
// replicas. Replays never count. The zero value allows everything.
type Quota struct {
	NewKeys int
	Per     time.Duration
}

// QuotaStore counts the new keys of users.
type QuotaStore interface {
	// QuotaTake counts a key of a user in the present window, and returns the
	// count, 0 for a key that is known already, and how long the window still lasts. It locks nothing for longer
	// than the count takes, so one user's flood doesn't hold up the others.
	QuotaTake(ctx context.Context, r Request, per time.Duration) (used int, left time.Duration, err error)
}

// Take counts a new key, or returns a QuotaError.
func (q Quota) Take(ctx context.Context, store QuotaStore, r Request) error {
	if q.NewKeys <= 0 {
		return nil
	}
	used, left, err := store.QuotaTake(ctx, r, q.Per)
	if err == nil && used > q.NewKeys {
		return &QuotaError{RetryAfter: left}
	}
	return err
}
