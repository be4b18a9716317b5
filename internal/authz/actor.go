package authz

import (
	"errors"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

// Actor is the caller, as proven by the token or the API key.
type Actor struct {
	// Subject is the token's sub, or key: and the id of the API key.
	Subject string
	Roles   []payment.Role
	// Door is the door by which a member of staff signed in, if other doors may give the same person another subject. It is
	// empty if the person has the same subject at all doors.
	Door string
	// OnBehalfOf is the user that a service acts for; empty otherwise.
	OnBehalfOf payment.UserID
	// Key is the API key that the actor is; nil for all other actors.
	Key *Key
	// OnlyAttempt restricts the bearer to reading this one attempt (a status token); nil without
	// such a token.
	OnlyAttempt *payment.AttemptID
}

// via stands between a subject, which has no blanks, and a door; madeBy between the subject of an API key and its creator.
const (
	via    = " via "
	madeBy = " made by "
)

// Person is the actor for a comparison of persons: the subject, with the door if there is one, and for an API key with the person
// behind it.
func (a Actor) Person() string {
	switch {
	case a.Key != nil:
		return a.Subject + madeBy + behind(a.Key.CreatedBy)
	case a.Door == "":
		return a.Subject
	}
	return a.Subject + via + a.Door
}

// behind is the person behind an API key, also of a key that another key made. Any other person is returned unchanged.
func behind(person string) string {
	if _, creator, found := strings.Cut(person, madeBy); found && strings.HasPrefix(person, keyPrefix) {
		return creator
	}
	return person
}

// SamePerson reports whether two values of Person may be one person. Different subjects are certainly different persons only at
// the same door. An API key is the person who made it.
func SamePerson(a, b string) bool {
	a, b = behind(a), behind(b)
	_, one, _ := strings.Cut(a, via)
	_, other, _ := strings.Cut(b, via)
	return a == b || one != other
}

// Has reports whether the actor has any of the roles.
func (a Actor) Has(roles ...payment.Role) bool {
	return slices.ContainsFunc(roles, func(r payment.Role) bool { return slices.Contains(a.Roles, r) })
}

// User is the owner of the orders that the actor creates and pays.
func (a Actor) User() payment.UserID {
	if a.OnBehalfOf != "" {
		return a.OnBehalfOf
	}
	return payment.UserID(a.Subject)
}

// Continues reports whether the actor may go on with the payments of a user: the user, a service, and the bearer of an
// attempt's status token. Staff only look.
func (a Actor) Continues(user payment.UserID) bool {
	return a.OnlyAttempt != nil || a.Has(payment.RoleService) || a.User() == user
}

// Require returns a RoleError unless the actor has one of the roles.
func (a Actor) Require(roles ...payment.Role) error {
	if a.OnlyAttempt != nil || !a.Has(roles...) {
		return &RoleError{Needed: roles}
	}
	return nil
}

// ActsAs is the role in which the actor creates and pays: a service acts for a user even if its token also has the customer's
// role.
func (a Actor) ActsAs() payment.Role {
	if a.Has(payment.RoleService) {
		return payment.RoleService
	}
	return payment.RoleCustomer
}

// MayAct returns ErrForbidden unless the actor may create and pay for a user. It returns ErrUserMissing for a service that names
// no user.
func (a Actor) MayAct() error {
	if err := a.Require(payment.RoleCustomer, payment.RoleService); err != nil {
		return err
	}
	if a.Has(payment.RoleService) && a.OnBehalfOf == "" {
		return payment.ErrUserMissing
	}
	return nil
}

// MayCreate returns ErrForbidden unless the actor may create orders, which the roles
// in by may, and ErrUserMissing for a service that names no user.
func (a Actor) MayCreate(by []payment.Role) error {
	if err := a.Require(by...); err != nil {
		return err
	}
	if !slices.Contains(by, a.ActsAs()) {
		return &RoleError{Needed: by}
	}
	return a.MayAct()
}

// MayRefund returns ErrForbidden unless the actor may refund. It returns ErrUserMissing for a service that names no user; an
// admin need not name one.
func (a Actor) MayRefund() error {
	if err := a.Require(payment.RoleService, payment.RoleAdmin); err != nil {
		return err
	}
	if !a.Has(payment.RoleAdmin) && a.OnBehalfOf == "" {
		return payment.ErrUserMissing
	}
	return nil
}

// MayRefundOf returns ErrForbidden unless the actor, which MayRefund, may refund payments of owner.
func (a Actor) MayRefundOf(owner payment.UserID) error {
	if a.User() == owner || a.Has(payment.RoleAdmin) && a.OnBehalfOf == "" {
		return nil
	}
	return payment.ErrForbidden
}

// MayResolve returns ErrForbidden unless the actor may make decisions that only a person can make.
func (a Actor) MayResolve() error { return a.Require(payment.RoleSupport, payment.RoleAdmin) }

// MayRead returns ErrForbidden unless the actor may read the objects of owner. A service that names a user sees as much as that
// user.
func (a Actor) MayRead(owner payment.UserID) error {
	switch {
	case a.OnlyAttempt != nil, a.OnBehalfOf != "" && a.OnBehalfOf != owner:
		return payment.ErrForbidden
	case a.Has(payment.RoleService, payment.RoleSupport, payment.RoleAdmin):
		return nil
	case a.Has(payment.RoleCustomer) && a.User() == owner:
		return nil
	}
	return payment.ErrForbidden
}

// Unseen returns err, or ErrForbidden in place of a not-found error if the actor may only name its
// own: it can't find out which ids there are.
func (a Actor) Unseen(err error) error {
	if a.OnlyAttempt == nil && a.Has(payment.RoleService, payment.RoleSupport, payment.RoleAdmin) {
		return err
	}
	for _, missing := range []error{payment.ErrOrderNotFound, payment.ErrAttemptNotFound, payment.ErrRefundNotFound, payment.ErrDisputeNotFound, payment.ErrPayoutNotFound} {
		if errors.Is(err, missing) {
			return payment.ErrForbidden
		}
	}
	return err
}

// MayReadAttempt is MayRead, with the bearer of the attempt's own status token
// let in.
func (a Actor) MayReadAttempt(owner payment.UserID, id payment.AttemptID) error {
	if a.OnlyAttempt != nil && *a.OnlyAttempt == id {
		return nil
	}
	return a.MayRead(owner)
}

// Name is the actor as role:name, the role being the one it acts by.
func (a Actor) Name() string {
	for _, role := range []payment.Role{payment.RoleCustomer, payment.RoleService, payment.RoleAdmin, payment.RoleSupport} {
		if a.Has(role) {
			return string(role) + ":" + a.Subject
		}
	}
	return a.Subject
}
