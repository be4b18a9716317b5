package worker

import (
	"context"
	"time"
)

const (
	sweepEvery = time.Minute
	sweepBatch = 1000
)

// Purger is what the sweep needs of the storage of keys.
type Purger interface {
	// PurgeKeys deletes at most limit expired keys and returns how many there
	// were.
	PurgeKeys(ctx context.Context, limit int) (int, error)
}

// PurgeKeys deletes expired idempotency keys, in portions that hold no lock for long, and passes the size of each to
// purged. Expiry does not depend on it: a key is checked on reading, too.
func PurgeKeys(p Purger, purged func(n int)) Loop {
	return Loop{Name: "purge keys", Every: sweepEvery, Do: func(ctx context.Context) (bool, error) {
		n, err := p.PurgeKeys(ctx, sweepBatch)
		purged(n)
		return n == sweepBatch, err
	}}
}

// BytesPurger is what the sweep needs of the inbox.
type BytesPurger interface {
	// PurgeEventBytes removes the bytes of at most limit settled events that are
	// older than keep, and returns how many there were.
	PurgeEventBytes(ctx context.Context, keep time.Duration, limit int) (int, error)
}

// PurgeEventBytes removes what providers sent once the retention time has passed:
// bytes and headers. Ids, digest and verdict stay.
func PurgeEventBytes(p BytesPurger, keep time.Duration) Loop {
	return Loop{Name: "purge event bytes", Every: sweepEvery, Do: func(ctx context.Context) (bool, error) {
		n, err := p.PurgeEventBytes(ctx, keep, sweepBatch)
		return n == sweepBatch, err
	}}
}

// EventsPurger is what the sweep needs of the outbox.
type EventsPurger interface {
	// PurgeEvents deletes limit events of before a time, or somewhat more, and returns how many there were.
	PurgeEvents(ctx context.Context, before time.Time, limit int) (int, error)
}

// PurgeEvents deletes the events for the merchant that are older than keep.
func PurgeEvents(p EventsPurger, keep time.Duration, now func() time.Time) Loop {
	return purgeEvents("purge events", p, keep, now)
}

// PurgeDeliveries deletes what is older than keep of the log of deliveries to endpoints.
func PurgeDeliveries(p EventsPurger, keep time.Duration, now func() time.Time) Loop {
	return purgeEvents("purge deliveries", p, keep, now)
}

func purgeEvents(name string, p EventsPurger, keep time.Duration, now func() time.Time) Loop {
	return Loop{Name: name, Every: sweepEvery, Do: func(ctx context.Context) (bool, error) {
		n, err := p.PurgeEvents(ctx, now().Add(-keep), sweepBatch)
		return n >= sweepBatch, err
	}}
}

// SessionsPurger is what the sweep needs of the sessions.
type SessionsPurger interface {
	// PurgeSessions deletes at most limit sessions that have ended some time ago and
	// returns how many there were.
	PurgeSessions(ctx context.Context, limit int) (int, error)
}

// PurgeSessions deletes the console's sessions that have ended. They end without
// it, too.
func PurgeSessions(p SessionsPurger) Loop {
	return Loop{Name: "purge sessions", Every: sweepEvery, Do: func(ctx context.Context) (bool, error) {
		n, err := p.PurgeSessions(ctx, sweepBatch)
		return n == sweepBatch, err
	}}
}

// TokensPurger is what the sweep needs of the tokens that charges may be sent again with.
type TokensPurger interface {
	// PurgeTokens erases at most limit tokens that are older than keep, and returns how
	// many there were.
	PurgeTokens(ctx context.Context, keep time.Duration, limit int) (int, error)
}

// PurgeTokens erases the tokens of charges that are not sent again any more, although their outcome is still unknown.
func PurgeTokens(p TokensPurger, keep time.Duration) Loop {
	return Loop{Name: "purge tokens", Every: sweepEvery, Do: func(ctx context.Context) (bool, error) {
		n, err := p.PurgeTokens(ctx, keep, sweepBatch)
		return n == sweepBatch, err
	}}
}
