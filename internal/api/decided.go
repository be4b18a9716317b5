package api

import (
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// Decided refuses a body with members that the caller may not set, and a call that the caller may not make. It names
// all of these members. The contract has the roles: x-decided-by of the call and of each member.
//
// It does not refuse an operation for staff: the use case refuses other roles, and audits the refusal.
func (g *Gate) Decided(c echo.Context, op *contract.Operation, body any) error {
	actor := ExchangeIn(c).Actor
	open := g.may(actor, op.Deciders)
	if !open && isForStaff(op) {
		return nil
	}
	needed := op.Roles
	var refused []contract.Decision
	for _, d := range g.Contract.Decisions(op.JSON(), body) {
		switch {
		case !open && strings.Contains(d.Field, "."):
		case !open:
			refused = append(refused, d)
		case !g.may(actor, d.Deciders):
			refused = append(refused, d)
			needed = common(needed, d.Roles)
		}
	}
	if open && len(refused) == 0 {
		return nil
	}
	if open && !slices.ContainsFunc(refused, func(d contract.Decision) bool { return d.RefusedAs == "" }) {
		return invalid(refused)
	}
	return forbidden(needed, refused, open)
}

// may reports whether the actor is one of the deciders.
func (g *Gate) may(actor authz.Actor, d contract.Deciders) bool {
	return actor.Has(rolesOf(d.Roles)...) || actor.Has(payment.RoleCustomer) && slices.ContainsFunc(d.CustomersMay, func(right string) bool {
		return slices.Contains(g.CustomersMay, authz.Right(right))
	})
}

// common is the roles of both lists.
func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(role string) bool { return !slices.Contains(b, role) })
}

func rolesOf(names []string) []payment.Role {
	roles := make([]payment.Role, len(names))
	for i, name := range names {
		roles[i] = payment.Role(name)
	}
	return roles
}

// forbidden is the refusal of members. Where the call itself is the caller's, leaving them out helps.
func forbidden(needed []string, refused []contract.Decision, open bool) error {
	err := &authz.RoleError{Needed: rolesOf(needed)}
	for _, d := range refused {
		err.Members = append(err.Members, d.Field)
	}
	if open {
		err.Or = "leave out " + strings.Join(err.Members, ", ")
	}
	return err
}

// invalid is the refusal of members that have validation-failed as their documented problem.
func invalid(refused []contract.Decision) error {
	err := &payment.ValidationError{}
	for _, d := range refused {
		err.Fields = append(err.Fields, payment.FieldError{Field: d.Field, Message: "may be set only by the merchant: leave it out"})
	}
	return err
}
