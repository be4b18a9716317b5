package call

import "github.com/paylatch/paylatch/internal/gateway"

// EndsNoContainer returns gateway.ErrUnsupported for a cancel that names a container and no payment, at a provider whose
// containers are made, and ended, elsewhere.
func EndsNoContainer(c gateway.Cancel) error {
	if c.ProviderPaymentID == "" && c.Container != "" {
		return gateway.ErrUnsupported
	}
	return nil
}
