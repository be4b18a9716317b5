package console

import (
	"github.com/paylatch/paylatch/internal/console/strip"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// AmountsBar returns the amounts of an order's price and of all of its payments. A payment whose movements were not read has
// no reversals.
func AmountsBar(id string, asked payment.Money, attempts ...payment.Attempt) strip.Amounts {
	bar := strip.Amounts{ID: id, Asked: asked.Minor, Write: func(minor int64) string { return amount.In(asked.Currency, minor) }}
	for i := range attempts {
		a := &attempts[i]
		bar.Captured += a.AmountCaptured()
		bar.Refunded += a.AmountRefunded()
		bar.Disputed += a.AmountDisputed()
		bar.Reversed += max(0, a.Sums(payment.MovementCaptureReversal))
	}
	return bar
}
