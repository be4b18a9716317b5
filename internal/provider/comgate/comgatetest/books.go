package comgatetest

import "strconv"

// moved changes a payment's status and records Comgate's notification of it.
func (f *Fake) moved(id, status string) {
	p := f.payments[id]
	p.status = status
	f.notices = append(f.notices, p.members(id).Encode())
}

// Pay pays as the customer does on the page or by the link that Comgate mails. It changes only a pending payment.
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

// Set changes a payment's status.
func (f *Fake) Set(id, status string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.moved(id, status)
}

// Count returns how often a command was executed.
func (f *Fake) Count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[method]
}

// Named returns the id of the payment with this refId, or "".
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

// Notices returns the notifications after the first n, in the order of the changes, without the secret.
func (f *Fake) Notices(n int) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.notices[n:len(f.notices):len(f.notices)]
}

// Books returns all payments except Initial, and all refunds.
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
