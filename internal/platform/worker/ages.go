package worker

import (
	"context"
	"time"
)

const (
	agesEvery = time.Hour
	agesBatch = 5000
)

// AgesPurger deletes old entries of the logs.
type AgesPurger interface {
	// PurgeAudit deletes at most limit entries of the audit log that are older than keep, and returns their number. The
	// chain begins after them from then on.
	PurgeAudit(ctx context.Context, keep time.Duration, limit int) (int, error)
	// PurgeLog does the same with the log of requests and calls.
	PurgeLog(ctx context.Context, keep time.Duration, limit int) (int, error)
}

// PurgeAudit deletes the entries of the audit log that are older than keep, once a day.
func PurgeAudit(p AgesPurger, keep time.Duration) Loop {
	return purgeAges("purge audit", p.PurgeAudit, keep)
}

// PurgeLog deletes the logged requests and provider calls that are older than keep, once a day.
func PurgeLog(p AgesPurger, keep time.Duration) Loop {
	return purgeAges("purge log", p.PurgeLog, keep)
}

func purgeAges(name string, purge func(ctx context.Context, keep time.Duration, limit int) (int, error), keep time.Duration) Loop {
	return Loop{Name: name, Every: agesEvery, Do: func(ctx context.Context) (bool, error) {
		n, err := purge(ctx, keep, agesBatch)
		return n == agesBatch, err
	}}
}
