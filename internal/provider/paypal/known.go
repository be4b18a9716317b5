package paypal

import "sync"

// maxKnown limits the number of remembered orders. When it is reached, all are forgotten.
const maxKnown = 10_000

// known remembers the order of each payment that PayPal has shown. A payment's order never changes, so an entry is never
// wrong and may be forgotten. The zero value is ready to use.
type known struct {
	mu     sync.Mutex
	orders map[string]string
}

// of returns the order of a payment, or "" if the payment was not seen.
func (k *known) of(payment string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.orders[payment]
}

func (k *known) note(o order) {
	all := o.made()
	if len(all) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.orders == nil || len(k.orders)+len(all) > maxKnown {
		k.orders = map[string]string{}
	}
	for _, p := range all {
		k.orders[p.id] = o.ID
	}
}
