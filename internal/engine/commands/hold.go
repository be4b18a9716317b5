package commands

import (
	"context"
	"errors"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// mayRelease returns ErrForbidden where the actor would end a hold of the merchant: money of one of the attempts is
// authorized, and a customer may not release it. It returns ErrBusy while that is uncertain.
func (c *Commands) mayRelease(actor authz.Actor, attempts ...payment.Attempt) error {
	switch {
	case c.releases(actor):
		return nil
	case slices.ContainsFunc(attempts, onHold):
		return &authz.RoleError{Needed: []payment.Role{payment.RoleService}, Or: "let the shop end the hold"}
	case slices.ContainsFunc(attempts, mayHaveHeld):
		return payment.ErrBusy
	}
	return nil
}

// releases reports whether the actor may end a hold.
func (c *Commands) releases(actor authz.Actor) bool {
	return actor.ActsAs() != payment.RoleCustomer || slices.Contains(c.CustomersMay, authz.CancelHold)
}

func onHold(a payment.Attempt) bool {
	return a.State == fsm.Authorized || a.OnHold() > 0 || a.Rest() > 0
}

// mayHaveHeld reports whether the outcome of a charge with manual capture is unknown.
func mayHaveHeld(a payment.Attempt) bool {
	return a.Capture.Holds() && a.State == fsm.OutcomeUnknown
}

// lookForHold looks up at the provider whether money of an attempt that waits for its customer is on hold by now, as far
// as a lookup is possible: a hold with a report that was lost, or is on its way, is the merchant's too.
func (c *Commands) lookForHold(ctx context.Context, actor authz.Actor, id payment.AttemptID) error {
	if c.releases(actor) {
		return nil
	}
	a, err := c.Store.Attempt(ctx, id)
	switch {
	case errors.Is(err, payment.ErrAttemptNotFound):
		return nil // the command returns the error
	case err != nil:
		return err
	case a.UserID != actor.User(), !a.Capture.Holds(), a.State != fsm.AwaitingCustomer, !c.Runner.Reachable(a):
		return nil
	}
	_, err = c.Runner.Recheck(ctx, id, payment.Cause{Kind: payment.CauseCheck, ID: "cancel"})
	if errors.Is(err, payment.ErrBusy) {
		return nil // another runner has it: the command waits for that, or is refused
	}
	return err
}

// lookForHoldOf is lookForHold for the live attempt of an order.
func (c *Commands) lookForHoldOf(ctx context.Context, actor authz.Actor, id payment.OrderID) error {
	if c.releases(actor) {
		return nil
	}
	o, err := c.Store.Order(ctx, id)
	switch live := o.Live(); {
	case errors.Is(err, payment.ErrOrderNotFound):
		return nil // the command returns the error
	case err != nil:
		return err
	case live == nil:
		return nil
	default:
		return c.lookForHold(ctx, actor, live.ID)
	}
}
