package worker

import (
	"context"
	"time"
)

const settleEvery = time.Second

// Settler is what the loop over open discrepancies needs of package worklist.
type Settler interface {
	// Turn looks at a portion of what is open, if it is this process's turn.
	Turn(ctx context.Context) error
}

// Settle closes discrepancies about which nothing is left to decide.
func Settle(s Settler) Loop {
	return Loop{Name: "settle discrepancies", Every: settleEvery, Do: func(ctx context.Context) (bool, error) { return false, s.Turn(ctx) }}
}
