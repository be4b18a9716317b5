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
// authorized, and a customer may not release it. If the provider has no lookup, money may be on hold unseen: it returns
// ErrForbidden then, too. It returns ErrBusy while a lookup has no result. Looked is the attempt whose lookup had a result.
func (c *Commands) mayRelease(actor authz.Actor, looked payment.AttemptID, attempts ...payment.Attempt) error {
	if c.releases(actor) {
		return nil
	}
	for _, a := range attempts {
		_, callable := c.Runner.Account(a)
		unseen := callable && mayHold(a) && a.ID != looked
		switch {
		case onHold(a), unseen && !c.Runner.Askable(a):
			return &authz.RoleError{Needed: []payment.Role{payment.RoleService}, Or: "let the shop end the hold"}
		case unseen, mayHaveHeld(a):
			return payment.ErrBusy
		}
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

// mayHaveHeld reports whether a charge with manual capture has no known outcome.
func mayHaveHeld(a payment.Attempt) bool {
	return a.Capture.Holds() && (a.State == fsm.Requested || a.State == fsm.OutcomeUnknown)
}

// mayHold reports whether money of an attempt may be on hold by now, because the report of the hold was lost or is on its
// way.
func mayHold(a payment.Attempt) bool {
	return a.Capture.Holds() && (a.State == fsm.AwaitingCustomer || a.State == fsm.Processing)
}

// lookForHold looks up at the provider whether money of an attempt is on hold before a customer's request ends the
// attempt: a hold without a report is the merchant's, too. It returns the attempt's id if the lookup has shown it.
func (c *Commands) lookForHold(ctx context.Context, actor authz.Actor, id payment.AttemptID) (looked payment.AttemptID, err error) {
	if c.releases(actor) {
		return looked, nil
	}
	a, err := c.Store.Attempt(ctx, id)
	switch {
	case errors.Is(err, payment.ErrAttemptNotFound):
		return looked, nil // the command returns the error
	case err != nil:
		return looked, err
	case a.UserID != actor.User(), !mayHold(a), !c.Runner.Askable(a):
		return looked, nil
	}
	sight, err := c.Runner.Look(ctx, id, payment.Cause{Kind: payment.CauseCheck, ID: "cancel"})
	switch {
	case errors.Is(err, payment.ErrBusy), err == nil && sight.Silent && !sight.Unfound:
		return looked, nil // the command waits for the other runner, or is refused
	case err != nil:
		return looked, err
	}
	return id, nil
}

// lookForHoldOf is lookForHold for the live attempt of an order.
func (c *Commands) lookForHoldOf(ctx context.Context, actor authz.Actor, id payment.OrderID) (looked payment.AttemptID, err error) {
	if c.releases(actor) {
		return looked, nil
	}
	o, err := c.Store.Order(ctx, id)
	switch live := o.Live(); {
	case errors.Is(err, payment.ErrOrderNotFound):
		return looked, nil // the command returns the error
	case err != nil:
		return looked, err
	case live == nil:
		return looked, nil
	default:
		return c.lookForHold(ctx, actor, live.ID)
	}
}
