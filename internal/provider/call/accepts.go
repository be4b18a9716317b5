package call

import (
	"fmt"
	"maps"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Needs collects what a provider would refuse a charge for, by the members of a pay.
type Needs struct{ fields []payment.FieldError }

// If adds a member that is missing or wrong, unless it fits.
func (n *Needs) If(wrong bool, member, message string) {
	if wrong {
		n.fields = append(n.fields, payment.FieldError{Field: member, Message: message})
	}
}

// Data adds the members of provider_data that are none of those allowed.
func (n *Needs) Data(d gateway.Details, allowed ...string) {
	for _, name := range slices.Sorted(maps.Keys(d.ProviderData)) {
		if !slices.Contains(allowed, name) {
			n.fields = append(n.fields, payment.FieldError{
				Field: "provider_data." + name, Message: "is not passed on to this account's provider, which takes " + orNone(allowed),
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

// Err is a payment.ValidationError with all that was found, nil for nothing.
func (n *Needs) Err() error {
	if len(n.fields) == 0 {
		return nil
	}
	return &payment.ValidationError{Fields: n.fields}
}
