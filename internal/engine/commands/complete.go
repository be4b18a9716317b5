package commands

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Complete is the command that passes on the data of the provider's page or script, a JSON object.
type Complete struct {
	AttemptID payment.AttemptID
	Details   json.RawMessage
}

// Complete continues an attempt that waits for its customer. It returns payment's ErrNotCompletable, and the errors of
// Confirm. It returns a ValidationError for details that the provider refuses; the attempt then goes on waiting.
func (c *Commands) Complete(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd Complete) (Reply, error) {
	return c.operate(ctx, operation{
		actor: actor, req: req, attempt: cmd.AttemptID, kind: payment.OperationComplete, carries: string(cmd.Details),
		amount: c.completable,
		met:    func(a payment.Attempt) bool { return a.State != fsm.AwaitingCustomer },
		uses: func(err error) bool {
			return errors.Is(err, payment.ErrOrderPaid) || errors.Is(err, payment.ErrOrderCancelled)
		},
		unmet: notCompleted,
	})
}

// completable refuses a complete if the attempt does not wait for its customer, or if its provider has no second step.
func (c *Commands) completable(a payment.Attempt, o payment.Order) (int64, error) {
	if err := o.Withheld(a.ID); err != nil {
		return 0, err
	}
	account, ok := c.Runner.Account(a)
	if a.State != fsm.AwaitingCustomer || a.Origin != payment.OriginPaylatch || ok && !account.Provider.Capabilities().Complete {
		return 0, payment.ErrNotCompletable
	}
	return 0, nil
}

// notCompleted refuses details that the provider has refused, unless the payment has ended with that.
func notCompleted(_ payment.Attempt, r gateway.CallResult) error {
	if (r.Outcome == gateway.CallRefused || r.Outcome == gateway.CallUnsupported) && r.Event() != fsm.EventSucceeded && r.Event() != fsm.EventFailed {
		return payment.Invalid("details", "are refused by the payment's provider: pass on the values of its page or script unchanged")
	}
	return nil
}
