package worker

import (
	"context"
	"time"

	"github.com/rs/zerolog"
)

const (
	sweepEvery = time.Minute
	// monthsEvery is often enough for what is dropped up to a month late.
	monthsEvery = time.Hour
	sweepBatch  = 1000
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

// DataKeys are the keys of what providers sent; *envelope.Keys in the program.
type DataKeys interface {
	// Refresh reads the keys, and makes what is missing of them and of the partitions. It returns how many can't be used.
	Refresh(ctx context.Context) (closed int, err error)
	// Age drops a month that has been over for longer than keep. It reports whether there may be more to do.
	Age(ctx context.Context, keep time.Duration) (more bool, err error)
}

// RefreshDataKeys reads the keys of what providers sent, before this process needs those of a new month.
func RefreshDataKeys(k DataKeys, log zerolog.Logger) Loop {
	return Loop{Name: "refresh data keys", Every: sweepEvery, Do: func(ctx context.Context) (bool, error) {
		closed, err := k.Refresh(ctx)
		if closed > 0 {
			log.Error().Int("data_keys", closed).Msg("what providers sent can't be read where its data key is encrypted with a key that encryption_keys lacks: add that key at the end of the list")
		}
		return false, err
	}}
}

// AgeEventBytes removes what providers sent once a month of it is older than keep: bytes and headers. Ids, digest and verdict stay.
func AgeEventBytes(k DataKeys, keep time.Duration) Loop {
	return Loop{Name: "age event bytes", Every: monthsEvery, Do: func(ctx context.Context) (bool, error) {
		return k.Age(ctx, keep)
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

// RequestsPurger is what the sweep needs of the requests that may be sent again.
type RequestsPurger interface {
	// PurgeRequests erases at most limit requests that are older than keep, and returns how
	// many there were.
	PurgeRequests(ctx context.Context, keep time.Duration, limit int) (int, error)
}

// detailsKept is how long a refund may still need the receipt of its payment.
const detailsKept = 400 * 24 * time.Hour

// DetailsPurger is what the sweep needs of the details of orders and the receipts of attempts.
type DetailsPurger interface {
	// PurgeDetails erases those that nothing needs any more, and those that are older than keep. It looks at
	// limit at most, and returns at how many.
	PurgeDetails(ctx context.Context, keep time.Duration, limit int) (int, error)
}

// PurgeDetails erases the details of orders that can't be paid any more, and the receipts of attempts of which nothing
// can be captured or refunded.
func PurgeDetails(p DetailsPurger) Loop {
	return Loop{Name: "purge details", Every: sweepEvery, Do: func(ctx context.Context) (bool, error) {
		n, err := p.PurgeDetails(ctx, detailsKept, sweepBatch)
		return n == sweepBatch, err
	}}
}

// PurgeRequests erases the requests of operations that are not sent again any more, although their outcome is still unknown.
func PurgeRequests(p RequestsPurger, keep time.Duration) Loop {
	return Loop{Name: "purge requests", Every: sweepEvery, Do: func(ctx context.Context) (bool, error) {
		n, err := p.PurgeRequests(ctx, keep, sweepBatch)
		return n == sweepBatch, err
	}}
}
