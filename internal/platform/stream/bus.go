package stream

import (
	"context"
	"errors"
)

// ID names a topic.
type ID [16]byte

// Bus is the hub's interface to the storage. Each method is called from one goroutine.
type Bus interface {
	// Listen passes every notice of any process to receive until ctx ends or the connection is lost, and returns why. It
	// calls ready once no later notice can be missed.
	Listen(ctx context.Context, ready func(), receive func(notice string)) error
	// Announce sends notices to all processes, outside of any other transaction. They need not reach the disk.
	Announce(ctx context.Context, notices []string) error
	// Moved returns the topics with a version above the given version.
	Moved(ctx context.Context, ids []ID, versions []int32) ([]ID, error)
}

var (
	// ErrFull is returned when the hub has no slot left.
	ErrFull = errors.New("the hub has no slot left")
	// ErrGroupFull is returned when a group has no slot left.
	ErrGroupFull = errors.New("the group has no slot left")
	// ErrEnded is returned when the hub has ended, shortly before the process ends.
	ErrEnded = errors.New("the hub has ended")
)
