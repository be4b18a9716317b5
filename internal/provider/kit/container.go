package kit

import "github.com/paylatch/paylatch/internal/gateway"

// EndsNoContainer returns gateway.ErrUnsupported for a cancel that names a container and no payment. It is for a
// provider whose containers are created and closed elsewhere.
func EndsNoContainer(c gateway.Cancel) error {
	if c.ProviderPaymentID == "" && c.Container != "" {
		return gateway.ErrUnsupported
	}
	return nil
}
