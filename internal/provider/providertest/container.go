package providertest

import (
	"cmp"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
)

// lookedUp returns the id to look up after a charge: the payment's id, or the container's id while the customer has not
// begun a payment in it.
func lookedUp(o gateway.Outcome) string { return cmp.Or(o.ProviderPaymentID, o.Container) }

// cancelOpen returns a cancel of the payment, or of its container while there is no payment.
func cancelOpen(o gateway.Outcome) gateway.Cancel {
	c := cancelOf(o.ProviderPaymentID)
	c.Container = o.Container
	return c
}

// begun returns the id of the object that the charge itself created: the container, or the payment if there is no
// container.
func begun(o gateway.Outcome) string { return cmp.Or(o.Container, o.ProviderPaymentID) }

// byPayment returns the outcome that a lookup by the payment's id must return. That lookup need not name the container.
// It may also name an inner container, such as the order of a link.
func byPayment(o, found gateway.Outcome) gateway.Outcome {
	if o.Container != "" && (found.Container == "" || slices.Contains(o.References, found.Container)) && found.Container != o.Container {
		o.References = slices.DeleteFunc(slices.Clone(o.References), func(name string) bool { return name == o.Container })
		o.Container = found.Container
	}
	return o
}
