package worker

import (
	"context"
	"time"
)

// recheckEvery is much less than a turn, so that another process soon continues the turn of a process that died.
const recheckEvery = 10 * time.Second

// Rechecker looks up final attempts again.
type Rechecker interface {
	Lookups() []string
	Turn(ctx context.Context, account string) error
}

// Recheck looks up final attempts again while their money can still move, account by account.
func Recheck(r Rechecker) Loop {
	accounts := newByAccount(r.Turn)
	return Loop{Name: "recheck", Every: recheckEvery, Rest: accounts.all.Wait, Do: func(ctx context.Context) (bool, error) {
		accounts.begin(ctx, r.Lookups())
		return false, accounts.failed()
	}}
}
