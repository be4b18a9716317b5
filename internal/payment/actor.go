package payment

import "slices"

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

// mayAct returns ErrForbidden unless the actor may create and pay for a user.
func (a Actor) mayAct() error { return a.Require(RoleCustomer, RoleService) }

// mayRefund returns ErrForbidden unless the actor may pay money back.
func (a Actor) mayRefund() error { return a.Require(RoleService, RoleAdmin) }

// mayResolve returns ErrForbidden unless the actor may decide what only a person
// can.
func (a Actor) mayResolve() error { return a.Require(RoleSupport, RoleAdmin) }

// mayRead returns ErrForbidden unless the actor may look at what owner owns. A
// service that names a user sees as much as that user.
func (a Actor) mayRead(owner UserID) error {
	switch {
	case a.OnlyAttempt != nil:
		return ErrForbidden
	case a.Has(RoleSupport, RoleAdmin):
		return nil
	case a.Has(RoleService) && a.OnBehalfOf == "":
		return nil
	case a.Has(RoleCustomer, RoleService) && a.User() == owner:
		return nil
	}
	return ErrForbidden
}

// mayReadAttempt is mayRead, with the bearer of the attempt's own status token
// let in.
func (a Actor) mayReadAttempt(owner UserID, id AttemptID) error {
	if a.OnlyAttempt != nil && *a.OnlyAttempt == id {
		return nil
	}
	return a.mayRead(owner)
}
