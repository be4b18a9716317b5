package paypal

import "sync"

// maxKnown bounds what is remembered; past it all is forgotten.
const maxKnown = 10_000

// known are the orders of payments that PayPal has shown. What a payment was made in never changes, so that it may be
// forgotten, and is never wrong. Its zero value is ready.
type known struct {
	mu     sync.Mutex
	orders map[string]string
}

// of returns the order of a payment, empty if it has not been seen.
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
