package payment

import (
	"errors"
	"slices"

	"github.com/paylatch/paylatch/internal/idempotency"
)

// Role is what a token allows its bearer to be.
type Role string

// The roles: a customer acts for itself, a service (the merchant's backend) for the
// user that it names; support looks and settles, and an admin may refund, too.
const (
	RoleCustomer Role = "customer"
	RoleService  Role = "service"
	RoleSupport  Role = "support"
	RoleAdmin    Role = "admin"
)

// Actor is who asks, as proven by the token.
type Actor struct {
	// Subject is the token's sub.
	Subject string
	Roles   []Role
	// OnBehalfOf is the user for whom a service acts; empty otherwise.
	OnBehalfOf UserID
	// OnlyAttempt restricts the bearer to reading this one attempt (a status
	// token); nil for everybody else.
	OnlyAttempt *AttemptID
}

// Has reports whether the actor has any of the roles.
func (a Actor) Has(roles ...Role) bool {
	return slices.ContainsFunc(roles, func(r Role) bool { return slices.Contains(a.Roles, r) })
}

// User is whose orders the actor creates and pays.
func (a Actor) User() UserID {
	if a.OnBehalfOf != "" {
		return a.OnBehalfOf
	}
	return UserID(a.Subject)
}

// Require returns a RoleError unless the actor has one of the roles.
func (a Actor) Require(roles ...Role) error {
	if a.OnlyAttempt != nil || !a.Has(roles...) {
		return &RoleError{Needed: roles}
	}
	return nil
}

// actsAs is the role in which the actor creates and pays: a service acts for a user
// also where its token has the customer's role beside its own.
func (a Actor) actsAs() Role {
	if a.Has(RoleService) {
		return RoleService
	}
	return RoleCustomer
}

// mayAct returns ErrForbidden unless the actor may create and pay for a user, and
// ErrUserMissing for a service that names none.
func (a Actor) mayAct() error {
	if err := a.Require(RoleCustomer, RoleService); err != nil {
		return err
	}
	if a.Has(RoleService) && a.OnBehalfOf == "" {
		return ErrUserMissing
	}
	return nil
}

// mayCreate returns ErrForbidden unless the actor may create orders, which the roles
// in by may, and ErrUserMissing for a service that names no user.
func (a Actor) mayCreate(by []Role) error {
	if err := a.Require(by...); err != nil {
		return err
	}
	if !slices.Contains(by, a.actsAs()) {
		return &RoleError{Needed: by}
	}
	return a.mayAct()
}

// mayRefund returns ErrForbidden unless the actor may pay money back, and
// ErrUserMissing for a service that names no user. An admin needs to name none.
func (a Actor) mayRefund() error {
	if err := a.Require(RoleService, RoleAdmin); err != nil {
		return err
	}
	if !a.Has(RoleAdmin) && a.OnBehalfOf == "" {
		return ErrUserMissing
	}
	return nil
}

// mayRefundOf returns ErrForbidden unless the actor, who may refund, may refund what
// owner paid.
func (a Actor) mayRefundOf(owner UserID) error {
	if a.User() == owner || a.Has(RoleAdmin) && a.OnBehalfOf == "" {
		return nil
	}
	return ErrForbidden
}

// mayResolve returns ErrForbidden unless the actor may decide what only a person
// can.
func (a Actor) mayResolve() error { return a.Require(RoleSupport, RoleAdmin) }

// mayRead returns ErrForbidden unless the actor may look at what owner owns. A
// service that names a user sees as much as that user.
func (a Actor) mayRead(owner UserID) error {
	switch {
	case a.OnlyAttempt != nil, a.OnBehalfOf != "" && a.OnBehalfOf != owner:
		return ErrForbidden
	case a.Has(RoleService, RoleSupport, RoleAdmin):
		return nil
	case a.Has(RoleCustomer) && a.User() == owner:
		return nil
	}
	return ErrForbidden
}

// Unseen returns err, or ErrForbidden where err says that something is not there and
// the actor may only name its own: it can't find out which ids there are.
func (a Actor) Unseen(err error) error {
	if a.OnlyAttempt == nil && a.Has(RoleService, RoleSupport, RoleAdmin) {
		return err
	}
	for _, missing := range []error{ErrOrderNotFound, ErrAttemptNotFound, ErrRefundNotFound} {
		if errors.Is(err, missing) {
			return ErrForbidden
		}
	}
	return err
}

// unseenUnder is Unseen in a command: what is not there is the command's result.
func (a Actor) unseenUnder(rec idempotency.Record, err error) error {
	if err = a.Unseen(err); errors.Is(err, ErrForbidden) {
		return err
	}
	return &refusal{err, rec}
}

// mayReadAttempt is mayRead, with the bearer of the attempt's own status token
// let in.
func (a Actor) mayReadAttempt(owner UserID, id AttemptID) error {
	if a.OnlyAttempt != nil && *a.OnlyAttempt == id {
		return nil
	}
	return a.mayRead(owner)
}
