package commands

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

const (
	// checkEvery is the least time between two lookups of an attempt by callers. After checksAtOnce lookups it is also
	// the least time between lookups of all attempts of a user.
	checkEvery   = 3 * time.Second
	checksAtOnce = 10
)

// Check looks up an attempt at the provider at once, whether it is due or not. It serves a customer who is back from the
// provider's page, and for the shop it looks up final attempts, too. It returns the attempt without a lookup if the
// attempt was looked up a moment ago, if another runner has it, or if the user's rate limit is used up. The limit does
// not hold for the shop. It also returns the attempt unchanged if the provider does not respond. It returns payment's
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
