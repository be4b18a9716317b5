package stream

import (
	"context"
	"errors"
)

// ID names a thing that can be waited for.
type ID [16]byte

// Bus is what the hub needs of the storage. Its methods are called from one
// goroutine each.
type Bus interface {
	// Listen hands every notice of any process to heard, until ctx ends or the
	// connection is lost, and says why. It calls ready once nothing more can be
	// missed.
	Listen(ctx context.Context, ready func(), heard func(notice string)) error
	// Announce sends notices to all who listen. It is no part of any other
	// transaction and need not reach the disk.
	Announce(ctx context.Context, notices []string) error
	// Moved returns those of the things whose version is above the one beside it.
	Moved(ctx context.Context, ids []ID, versions []int32) ([]ID, error)
}

var (
	// ErrFull is returned when as many wait as may.
	ErrFull = errors.New("too many are waiting")
	// ErrCrowded is returned when as many of one party wait as may.
	ErrCrowded = errors.New("too many of a party are waiting")
	// ErrEnded is returned when the hub has ended, as the process is about to.
	ErrEnded = errors.New("nobody can wait any more")
)
