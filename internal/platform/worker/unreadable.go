package worker

import (
	"context"
	"time"
)

// Unreadable events are read again at about one a second, at the start of a version.
const (
	readAgainEvery = 10 * time.Second
	readAgainBatch = 10
)

// Rereader replays unreadable events.
type Rereader interface {
	// ReadAgain replays at most limit unreadable events that a version has not tried yet.
	ReadAgain(ctx context.Context, version string, limit int) (int, error)
}

// ReadAgain reads each unreadable event once by this version of the program.
func ReadAgain(r Rereader, version string) Loop {
	return Loop{Name: "read again", Every: readAgainEvery, Do: func(ctx context.Context) (bool, error) {
		_, err := r.ReadAgain(ctx, version, readAgainBatch)
		return false, err
	}}
}
