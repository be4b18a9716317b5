package worker

import (
	"context"
	"time"
)

const countEvery = 2 * time.Second

// Counter counts ended attempts by hours; *overview.Service in the program.
type Counter interface {
	// Count counts a portion and reports whether more waits; Purge deletes old hours.
	Count(ctx context.Context) (more bool, err error)
	Purge(ctx context.Context) error
}

// CountHours counts ended attempts by hours.
func CountHours(c Counter) Loop {
	return Loop{Name: "count hours", Every: countEvery, Do: c.Count}
}

// PurgeHours deletes the hours that nothing shows any more.
func PurgeHours(c Counter) Loop {
	return Loop{Name: "purge hours", Every: time.Hour, Do: func(ctx context.Context) (bool, error) { return false, c.Purge(ctx) }}
}
