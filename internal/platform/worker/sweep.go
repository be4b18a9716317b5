package worker

import (
	"context"
	"time"

	"github.com/rs/zerolog"
)

const (
	sweepEvery = time.Minute
	// monthsEvery is often enough: a month may be dropped up to a month late.
	monthsEvery = time.Hour
	sweepBatch  = 1000
)

// Purger deletes expired keys.
type Purger interface {
	// PurgeKeys deletes at most limit expired keys and returns their number.
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

// DataKeys are the keys that encrypt providers' data; *envelope.Keys in the program.
type DataKeys interface {
	// Refresh reads the keys, and makes missing keys and partitions. It returns the number of keys that can't be used.
	Refresh(ctx context.Context) (closed int, err error)
	// Age drops a month that has been over for longer than keep. It reports whether there may be more to do.
	Age(ctx context.Context, keep time.Duration) (more bool, err error)
}

// RefreshDataKeys reads the keys of providers' data, before this process needs the keys of a new month.
func RefreshDataKeys(k DataKeys, log zerolog.Logger) Loop {
	return Loop{Name: "refresh data keys", Every: sweepEvery, Do: func(ctx context.Context) (bool, error) {
		closed, err := k.Refresh(ctx)
		if closed > 0 {
			log.Error().Int("data_keys", closed).Msg("some provider messages can't be read, because encryption_keys lacks the key of their data keys: add that key at the end of the list")
		}
		return false, err
	}}
}

// AgeEventBytes removes the bytes and headers of providers' events once their month is older than keep. Ids, digest and
// verdict stay.
func AgeEventBytes(k DataKeys, keep time.Duration) Loop {
	return Loop{Name: "age event bytes", Every: monthsEvery, Do: func(ctx context.Context) (bool, error) {
		return k.Age(ctx, keep)
	}}
}

// EventsPurger deletes old events of the outbox.
type EventsPurger interface {
	// PurgeEvents deletes limit events from before a time, or somewhat more, and returns their number.
	PurgeEvents(ctx context.Context, before time.Time, limit int) (int, error)
}

// PurgeEvents deletes the events for the merchant that are older than keep.
func PurgeEvents(p EventsPurger, keep time.Duration, now func() time.Time) Loop {
	return purgeEvents("purge events", p, keep, now)
}

// PurgeDeliveries deletes entries of the endpoints' delivery log that are older than keep.
func PurgeDeliveries(p EventsPurger, keep time.Duration, now func() time.Time) Loop {
	return purgeEvents("purge deliveries", p, keep, now)
}

func purgeEvents(name string, p EventsPurger, keep time.Duration, now func() time.Time) Loop {
	return Loop{Name: name, Every: sweepEvery, Do: func(ctx context.Context) (bool, error) {
		n, err := p.PurgeEvents(ctx, now().Add(-keep), sweepBatch)
		return n >= sweepBatch, err
	}}
}

// SessionsPurger deletes ended sessions.
type SessionsPurger interface {
	// PurgeSessions deletes at most limit sessions that ended some time ago and returns their number.
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

// RequestsPurger erases old requests that may be sent again.
type RequestsPurger interface {
	// PurgeRequests erases at most limit requests that are older than keep, and returns their number.
	PurgeRequests(ctx context.Context, keep time.Duration, limit int) (int, error)
}

// detailsKept is how long a refund may still need the receipt of its payment.
const detailsKept = 400 * 24 * time.Hour

// DetailsPurger erases the details of orders and the receipts of attempts.
type DetailsPurger interface {
	// PurgeDetails erases details that are not needed any more, and details that are older than keep. It checks at most
	// limit rows and returns their number.
	PurgeDetails(ctx context.Context, keep time.Duration, limit int) (int, error)
}

// PurgeDetails erases the details of orders that can't be paid any more, and the receipts of attempts without money to
// capture or refund.
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
