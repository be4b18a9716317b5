package worker

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

const silenceEvery = 15 * time.Second

// Listener is what the silence loop needs of package payment.
type Listener interface {
	NoteHeard(ctx context.Context) error
	Silent(ctx context.Context) ([]payment.Silence, error)
}

// Silence stores when accounts last sent a webhook, and passes those that sent none although attempts wait for them to
// silent.
func Silence(l Listener, silent func([]payment.Silence)) Loop {
	return Loop{Name: "silence", Every: silenceEvery, Do: func(ctx context.Context) (bool, error) {
		if err := l.NoteHeard(ctx); err != nil {
			return false, err
		}
		all, err := l.Silent(ctx)
		if err == nil {
			silent(all)
		}
		return false, err
	}}
}
