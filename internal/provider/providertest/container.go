package providertest

import (
	"cmp"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
)

// lookedUp is the id by which what a charge began is looked up: that of the payment, or of its container where the
// customer has begun no payment in it yet.
func lookedUp(o gateway.Outcome) string { return cmp.Or(o.ProviderPaymentID, o.Container) }

// cancelOpen cancels what a charge began: the payment, or its container while there is none.
func cancelOpen(o gateway.Outcome) gateway.Cancel {
	c := cancelOf(o.ProviderPaymentID)
	c.Container = o.Container
	return c
}

// begun is the id of what the charge itself has made: the container, or the payment where there is none.
func begun(o gateway.Outcome) string { return cmp.Or(o.Container, o.ProviderPaymentID) }

// byPayment is an outcome as a lookup by the payment's id returns it, which need not name the container, or may name the
// container within it by which the payment is known there: a link's order.
func byPayment(o, found gateway.Outcome) gateway.Outcome {
	if o.Container != "" && (found.Container == "" || slices.Contains(o.References, found.Container)) && found.Container != o.Container {
		o.References = slices.DeleteFunc(slices.Clone(o.References), func(name string) bool { return name == o.Container })
		o.Container = found.Container
	}
	return o
}
