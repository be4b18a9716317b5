package payment

import "context"

// classify gives a late success its kind by what the order's other attempts
// say, and finds a second success where the first was the late one.
func (b *batch) classify(ctx context.Context) error {
	for _, l := range b.late {
		d := &b.discrepancies[l.at]
		d.Kind = lateKind(l.change.Attempt, b.orders[l.change.Attempt.OrderID])
		d.Text = b.explainLate(d.Kind, l.change.Attempt)
		if err := b.refundLate(ctx, l.change.Attempt); err != nil {
			return err
		}
	}
	for _, c := range b.won {
		for _, other := range b.orders[c.Attempt.OrderID].Attempts {
			if other.ID != c.Attempt.ID && other.Held() > 0 {
				b.open(&Change{Attempt: other}, DoubleSuccess, b.explainLate(DoubleSuccess, other))
			}
		}
	}
	return nil
}

func (b *batch) explainLate(kind DiscrepancyKind, a Attempt) string {
	if b.accounts[a.Account].AutoRefund {
		return kind.explainRefunded()
	}
	return kind.explain()
}

// refundLate puts the refund of late money on disk where the account's policy
// says so, once; the reconciler sends it.
func (b *batch) refundLate(ctx context.Context, a Attempt) error {
	if !b.accounts[a.Account].AutoRefund {
		return nil
	}
	if err := b.loadRefunds(ctx, a.ID); err != nil {
		return err
	}
	for _, r := range b.refunds[a.ID] {
		if r.Origin == RefundByPolicy {
			return nil
		}
	}
	if left := refundable(a, b.refunds[a.ID]); left > 0 {
		b.insertRefund(newRefund(a, RefundByPolicy, Money{Minor: left, Currency: a.Money.Currency}, b.now()))
	}
	return nil
}

func lateKind(a Attempt, o Order) DiscrepancyKind {
	live := o.Live()
	switch {
	case live != nil && live.ID != a.ID && live.Succeeded():
		return DoubleSuccess
	case o.CancelRequestedAt != nil:
		return PaidAfterCancel
	}
	return LateSuccess
}
