package payment

// PaymentKey is the key under which the payment's movements are recorded: empty for the attempt's first payment.
func (a *Attempt) PaymentKey(p *Payment) string {
	if p == nil || len(a.Payments) > 0 && p == &a.Payments[0] {
		return ""
	}
	return p.ID
}

// ofKey is the payment under which movements with a key are recorded, nil without such a payment.
func (a *Attempt) ofKey(key string) *Payment {
	if key != "" {
		return a.Payment(key)
	}
	if len(a.Payments) == 0 {
		return nil
	}
	return &a.Payments[0]
}

// PaymentOf is the payment of one of the attempt's movements, nil if there is none yet.
func (a *Attempt) PaymentOf(m Movement) *Payment { return a.ofKey(m.Payment) }

// nameless is the payment without a name that the next report may name, in a container or without a container.
func (a *Attempt) nameless(container string) *Payment {
	if p := a.Payment(""); p != nil && (p.Container == "" || container == "" || p.Container == container) {
		return p
	}
	return nil
}

// KeyOf is the key under which the movements of a report about a payment are recorded. A payment without a name takes
// the name of the report, as in [Advance]. The key of a new payment is its id.
func (a *Attempt) KeyOf(id string) string {
	p := a.Payment(id)
	if p == nil {
		p = a.nameless("")
	}
	if p != nil || id == "" || len(a.Payments) == 0 {
		return a.PaymentKey(p)
	}
	return id
}
