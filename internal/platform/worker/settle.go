package worker

import (
	"context"
	"time"
)

const settleEvery = time.Second

// Settler closes settled discrepancies.
type Settler interface {
	// Turn checks a portion of the open discrepancies, if it is this process's turn.
	Turn(ctx context.Context) error
}

// Settle closes discrepancies with nothing left to decide.
func Settle(s Settler) Loop {
	return Loop{Name: "settle discrepancies", Every: settleEvery, Do: func(ctx context.Context) (bool, error) { return false, s.Turn(ctx) }}
}
