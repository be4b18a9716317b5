package worker

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/engine/intake"
)

const staleEvery = 15 * time.Second

// LastWebhooks stores the times of webhooks and lists stale accounts.
type LastWebhooks interface {
	SaveLastWebhooks(ctx context.Context) error
	Stale(ctx context.Context) ([]intake.StaleAccount, error)
}

// Stale stores when accounts last sent a webhook. It passes accounts with waiting attempts but without a webhook to
// stale, each with the number of those attempts.
func Stale(l LastWebhooks, stale func(pending map[string]int)) Loop {
	return Loop{Name: "stale", Every: staleEvery, Do: func(ctx context.Context) (bool, error) {
		if err := l.SaveLastWebhooks(ctx); err != nil {
			return false, err
		}
		accounts, err := l.Stale(ctx)
		if err != nil {
			return false, err
		}
		pending := make(map[string]int, len(accounts))
		for _, a := range accounts {
			pending[a.Account] = a.Pending
		}
		stale(pending)
		return false, nil
	}}
}
