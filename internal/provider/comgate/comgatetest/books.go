package comgatetest

import "strconv"

// moved changes how a payment stands, of which Comgate notifies the shop.
func (f *Fake) moved(id, status string) {
	p := f.payments[id]
	p.status = status
	f.notices = append(f.notices, p.members(id).Encode())
}

// Pay is a customer who pays on the page, or by the link that Comgate mails. A payment that is no longer pending stays as it is.
func (f *Fake) Pay(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch p := f.payments[id]; {
	case p.status != "PENDING":
	case p.preauth:
		f.moved(id, "AUTHORIZED")
	default:
		f.moved(id, "PAID")
	}
}

// Set changes how a payment stands.
func (f *Fake) Set(id, status string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.moved(id, status)
}

// Count is how often a command was carried out.
func (f *Fake) Count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[method]
}

// Named is the id of the payment with a refId; empty for none.
func (f *Fake) Named(ref string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, p := range f.payments {
		if p.ref == ref {
			return id
		}
	}
	return ""
}

// Notices are the notifications after the first n, in the order of what they are about, without the secret.
func (f *Fake) Notices(n int) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.notices[n:len(f.notices):len(f.notices)]
}

// Books are all payments but Initial, and all refunds.
func (f *Fake) Books() (payments []Payment, refunds []Refund) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, p := range f.payments {
		if price, err := strconv.ParseInt(p.price, 10, 64); err == nil && id != Initial {
			payments = append(payments, Payment{id, p.ref, p.status, price})
		}
	}
	return payments, append(refunds, f.refunds...)
}
