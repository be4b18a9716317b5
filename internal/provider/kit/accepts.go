package kit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Needs collects the reasons why a provider would refuse a charge, by the charge's members.
type Needs struct{ fields []payment.FieldError }

// If adds an error about a member if the member is wrong.
func (n *Needs) If(wrong bool, member, message string) {
	if wrong {
		n.fields = append(n.fields, payment.FieldError{Field: member, Message: message})
	}
}

// Data adds an error for each member of provider_data that is not allowed.
func (n *Needs) Data(d gateway.Details, allowed ...string) {
	for _, name := range slices.Sorted(maps.Keys(d.ProviderData)) {
		if !slices.Contains(allowed, name) {
			n.fields = append(n.fields, payment.FieldError{
				Field: "provider_data." + name, Message: "is not sent to this account's provider, which accepts only " + orNone(allowed),
			})
		}
	}
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return fmt.Sprint(names)
}

// Err returns a payment.ValidationError with all collected errors, or nil if there are none.
func (n *Needs) Err() error {
	if len(n.fields) == 0 {
		return nil
	}
	return &payment.ValidationError{Fields: n.fields}
}
