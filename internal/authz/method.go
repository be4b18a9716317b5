package authz

import (
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// MayUse returns ErrForbidden unless the actor may pay with these details. Only the merchant's backend can vouch for the owner
// of a stored payment method, charge without the customer, set the contents of a fiscal receipt, and fill in the provider's own
// request.
func (a Actor) MayUse(d gateway.Details) error {
	if d.Stored || d.Unattended || len(d.ProviderData) > 0 || gateway.HasReceipt(d.Lines) {
		return a.Require(payment.RoleService)
	}
	if d.Customer.Reference != string(a.User()) && a.Require(payment.RoleService) != nil {
		return &RoleError{Needed: []payment.Role{payment.RoleService}, Or: "leave out customer.reference", Members: []string{"customer.reference"}}
	}
	return nil
}
