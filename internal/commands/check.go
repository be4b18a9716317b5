package commands

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

const (
	// checkEvery is the least time between two lookups of an attempt that callers cause, and, after checksAtOnce, between those of all
	// attempts of a user.
	checkEvery   = 3 * time.Second
	checksAtOnce = 10
)

// Check looks an attempt up at the provider at once, whatever its schedule: a pending one, because its customer is back
// from the provider's page, and for the shop a final one, too. An attempt that was looked up a moment ago, that another runner has, or of
// a user who has had many looked up, unless the shop asks, is returned as it is, and so is one of which the provider does not answer. It returns payment's
// ErrForbidden, ErrAttemptNotFound and ErrUnavailable.
func (c *Commands) Check(ctx context.Context, actor authz.Actor, id payment.AttemptID) (payment.View, error) {
	v, err := c.Attempt(ctx, actor, id)
	if err != nil {
		return payment.View{}, err
	}
	if actor.OnlyAttempt == nil {
		if err := actor.Require(payment.RoleCustomer, payment.RoleService); err != nil {
			return payment.View{}, err
		}
	}
	cause := payment.Cause{Kind: payment.CauseCheck, ID: "customer"}
	if v.State.Final() {
		if actor.OnlyAttempt != nil || !actor.Has(payment.RoleService) || !c.Runner.Askable(v.Attempt) {
			return v, nil
		}
		cause.ID = "shop"
	}
	now, shop := c.Runner.Now(), actor.OnlyAttempt == nil && actor.Has(payment.RoleService)
	if c.checks.Reserve(id.String(), now) > 0 || !shop && c.lookups.Reserve(string(v.UserID), now) > 0 {
		return v, nil
	}
	checked, err := c.Runner.AskOnce(ctx, id, cause, checkEvery)
	if errors.Is(err, payment.ErrBusy) {
		return c.Attempt(ctx, actor, id)
	}
	return checked, err
}
