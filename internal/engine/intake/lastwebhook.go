package intake

import (
	"context"
	"sync"
	"time"
)

// StaleAccount is an account without webhooks while attempts wait for them: its endpoint
// may be disabled at the provider, or lead elsewhere. An unsigned webhook counts once the
// provider has confirmed it for a payment of ours.
type StaleAccount struct {
	Account string
	// Pending is the number of waiting attempts. Since is when the first of them began.
	Pending int
	Since   time.Time
	// LastWebhookAt is when the last webhook arrived; nil before the first webhook.
	LastWebhookAt *time.Time
}

// Stale lists the stale accounts, by the times that SaveLastWebhooks has stored. Lookups of their attempts go on.
func (in *Inbox) Stale(ctx context.Context) ([]StaleAccount, error) {
	var receiving []string
	for name, account := range in.Accounts.All() {
		if account.Hears {
			receiving = append(receiving, name)
		}
	}
	return in.Store.StaleAccounts(ctx, receiving, in.StaleAfter)
}

// SaveLastWebhooks stores when this process last had a webhook of each account. It is
// called a few times a minute, so that the intake has nothing to write.
func (in *Inbox) SaveLastWebhooks(ctx context.Context) error {
	last := in.last.take()
	if len(last) == 0 {
		return nil
	}
	err := in.Store.LastWebhooksSave(ctx, last)
	if err != nil {
		for account, at := range last {
			in.last.note(account, at)
		}
	}
	return err
}

// lastWebhooks are when accounts last had a webhook.
type lastWebhooks struct {
	mu sync.Mutex
	at map[string]time.Time
}

func (l *lastWebhooks) note(account string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at == nil {
		l.at = map[string]time.Time{}
	}
	if at.After(l.at[account]) {
		l.at[account] = at
	}
}

func (l *lastWebhooks) take() map[string]time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.at
	l.at = nil
	return last
}
