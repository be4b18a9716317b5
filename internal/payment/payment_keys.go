package payment

// PaymentKey is the payment by which a movement of it is recorded: empty for the attempt's first one.
func (a *Attempt) PaymentKey(p *Payment) string {
	if p == nil || len(a.Payments) > 0 && p == &a.Payments[0] {
		return ""
	}
	return p.ID
}

// ofKey is the payment that the movements with a key are of, nil if there is none.
func (a *Attempt) ofKey(key string) *Payment {
	if key != "" {
		return a.Payment(key)
	}
	if len(a.Payments) == 0 {
		return nil
	}
	return &a.Payments[0]
}

// PaymentOf is the payment that a movement of the attempt is of, nil if there is none.
func (a *Attempt) PaymentOf(m Movement) *Payment { return a.ofKey(m.Payment) }

// nameless is the payment that has no name yet and may be the one that is named next, in a container or without one.
func (a *Attempt) nameless(container string) *Payment {
	if p := a.Payment(""); p != nil && (p.Container == "" || container == "" || p.Container == container) {
		return p
	}
	return nil
}

// KeyOf is the payment by which the movements of a report that names a payment are recorded. A payment that has no name yet
// takes the name, as in [Advance]; the id of a new payment is its own.
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
