package payment

import (
	"context"
	"errors"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
)

// Confirm is the command: capture an authorised attempt, all of it or Amount.
type Confirm struct {
	AttemptID AttemptID
	Amount    *int64
}

// Confirm captures authorised money. It returns ErrOrderPaid if another attempt of the
// order holds money, ErrOrderCancelled, ErrNotCapturable, ErrCaptureExceeds, a ValidationError for an amount that the provider is never
// sent, ErrBusy while another command on the attempt is under way, ErrForbidden,
// ErrAttemptNotFound, and the errors of idempotency.Take.
func (s *Service) Confirm(ctx context.Context, actor Actor, req idempotency.Request, cmd Confirm) (Reply, error) {
	return s.command(ctx, actor, req, intention{
		attempt: cmd.AttemptID,
		intent:  func(a Attempt, o Order) (Intent, error) { return captureOf(a, o, cmd.Amount) },
		met:     func(a Attempt) bool { return a.Succeeded() && a.Captured == captured(a, cmd.Amount) },
		uses:    usedUpByConfirm,
		unmet:   notCaptured,
	})
}

func notCaptured(_ Attempt, n News) error {
	if n.Unfit {
		return invalid("amount", "can't be sent to the payment's provider: choose another one")
	}
	return ErrNotCapturable
}

func usedUpByConfirm(err error) bool {
	return errors.Is(err, ErrCaptureExceeds) || errors.Is(err, ErrOrderPaid) || errors.Is(err, ErrOrderCancelled)
}

func captureOf(a Attempt, o Order, amount *int64) (Intent, error) {
	if err := o.withheld(a.ID); err != nil {
		return Intent{}, err
	}
	if a.State != fsm.Authorized {
		return Intent{}, ErrNotCapturable
	}
	i := Intent{Kind: IntentCapture, Amount: captured(a, amount)}
	if i.Amount > a.capturable() {
		return Intent{}, ErrCaptureExceeds
	}
	return i, nil
}

// captured is how much a confirm of an amount takes: without one, all of it.
func captured(a Attempt, amount *int64) int64 {
	if amount != nil {
		return *amount
	}
	return a.capturable()
}
