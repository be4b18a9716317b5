package authz

import (
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// MayUse returns ErrForbidden unless the actor may pay with the method: only the merchant's backend
// can vouch for the owner of a stored one.
func (a Actor) MayUse(m gateway.Method) error {
	if m.Stored || m.Customer != string(a.User()) {
		return a.Require(payment.RoleService)
	}
	return nil
}
