package support

import (
	"slices"
	"strconv"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Summary says in one paragraph how things stand, how often the customer was
// charged for the order, what happens next and when, and whether the customer may
// pay again.
func (c Case) Summary() string {
	parts := []string{c.stands()}
	if moved := c.paidBack(); moved != "" {
		parts = append(parts, moved)
	}
	return strings.Join(append(parts, c.charged(), c.next(), c.mayPayAgain()), " ")
}

func (c Case) stands() string {
	a := c.Attempt
	what := "The payment of " + a.Money.String() + " for order " + string(a.OrderID)
	switch {
	case a.Succeeded():
		return what + " succeeded on " + clock(*a.FinalizedAt) + "." + c.differs()
	case a.Failed() && c.held():
		return what + " had failed on " + clock(*a.FinalizedAt) + ": " + c.failure()
	case a.Failed():
		return what + " failed on " + clock(*a.FinalizedAt) + ": " + c.failure() + c.differs()
	case c.held():
		return what + " is not finished, and the provider has taken money for it: " + c.taken() + "."
	}
	return what + pendingWords[a.State] + c.differs()
}

// pendingWords is how a payment stands of which nothing is taken.
var pendingWords = map[fsm.State]string{ //nolint:gochecknoglobals // a table
	fsm.OutcomeUnknown:   " was sent to the provider, and it is not known whether it was charged.",
	fsm.AwaitingCustomer: " waits for the customer to confirm it on the provider's page.",
	fsm.Authorized:       " is held by the provider; nothing of it is taken yet.",
	fsm.Processing:       " is with the provider, which has not decided yet.",
	fsm.Requested:        " was begun and is on its way to the provider.",
}

// differs says what the provider speaks of where that is not what was asked for.
func (c Case) differs() string {
	a, told := c.Attempt, c.spokenOf()
	switch {
	case a.Captured > 0 && a.Captured != a.Money.Minor, c.foreign() && a.Succeeded():
		return " " + c.taken() + " were taken."
	case a.Captured > 0:
	case a.Authorized > 0 && a.Authorized != a.Money.Minor:
		return " The provider holds " + c.money(a.Authorized) + " for it."
	case told != nil:
		return " The provider speaks of " + told.Money.String() + "."
	}
	return ""
}

// taken is what was taken, whatever the currency.
func (c Case) taken() string {
	var parts []string
	if c.Attempt.Captured > 0 {
		parts = append(parts, c.money(c.Attempt.Captured))
	}
	if c.foreign() {
		parts = append(parts, c.Attempt.Foreign.String())
	}
	return strings.Join(parts, " and ")
}

// held says that money was taken for the attempt.
func (c Case) held() bool { return c.Attempt.Captured > 0 || c.foreign() }

// foreign says that money was taken in another currency, and that nobody has given it back.
func (c Case) foreign() bool { return c.Attempt.Foreign.Minor > c.Attempt.ForeignReturned }

// spokenOf is the open discrepancy of other money than was asked for; nil if there is none.
func (c Case) spokenOf() *Discrepancy {
	for i, d := range c.Discrepancies {
		other := d.Kind == payment.AmountMismatch || d.Kind == payment.CurrencyMismatch
		if other && d.Resolved == nil && d.Money != nil && d.OfPayment() {
			return &c.Discrepancies[i]
		}
	}
	return nil
}

// secondPayment says that the provider told of money under this payment twice, and that
// nobody has looked yet.
func (c Case) secondPayment() bool {
	return slices.ContainsFunc(c.Discrepancies, func(d Discrepancy) bool { return d.Resolved == nil && d.SecondPayment() })
}

// paidBack says what became of taken money.
func (c Case) paidBack() string {
	a := c.Attempt
	var parts []string
	if a.Failed() && c.held() {
		parts = append(parts, "It arrived after all: the provider took "+c.taken()+".")
	}
	if c.foreign() {
		parts = append(parts, a.Foreign.String()+" is in another currency than the payment's, and nobody is known to have given it back.")
	}
	if a.HoldToldAt != nil {
		parts = append(parts, "The provider may still hold money for it.")
	}
	if a.Reversed > 0 {
		parts = append(parts, "The provider took back "+c.money(a.Reversed)+".")
	}
	if a.AmountDisputed() > 0 {
		parts = append(parts, "Chargebacks took "+c.money(a.AmountDisputed())+".")
	}
	if a.Refunded > 0 {
		parts = append(parts, c.money(a.Refunded)+" were paid back to the customer.")
	}
	for _, r := range c.Refunds {
		if r.State == fsm.RefundPending {
			parts = append(parts, "A refund of "+r.Money.String()+" is on its way.")
		}
	}
	return strings.Join(parts, " ")
}

// charged answers "was I charged twice?".
func (c Case) charged() string {
	times, undone, holds := 0, false, false
	for _, a := range c.Order.Attempts {
		if a.Captured-a.Reversed-a.AmountDisputed() > 0 || a.Foreign.Minor > a.ForeignReturned {
			times++
		}
		undone = undone || a.Captured > 0
		holds = holds || a.State == fsm.Authorized && a.Captured == 0
	}
	live := c.Order.Live()
	switch {
	case c.secondPayment():
		return "The customer may have been charged twice for this order, by this one payment."
	case times > 1:
		return "The customer was charged " + strconv.Itoa(times) + " times for this order, by " + strconv.Itoa(times) + " payments."
	case times == 1 && holds:
		return "The customer was charged once for this order, and money is held for it a second time, by another payment."
	case times == 1:
		return "The customer was charged once for this order."
	case undone:
		return "The customer was charged for this order, and the provider has taken the money back."
	case live != nil && live.State != fsm.Authorized && live.State != fsm.AwaitingCustomer:
		return "No charge for this order is known so far."
	}
	return "The customer has not been charged for this order."
}

// next says what happens, and when.
func (c Case) next() string {
	if waiting := c.waiting(); waiting != nil {
		return "A person has to look: " + waiting.Text
	}
	a := c.Attempt
	if !a.State.Final() {
		text := "The provider is asked again " + c.when(a) + ", and on until it answers."
		switch {
		case a.Intent.Kind == payment.IntentCancel:
			text = "It is being cancelled. " + text
		case a.Intent.Kind == payment.IntentCapture:
			text = "The money is being taken. " + text
		case a.State == fsm.Authorized:
			text = "The shop takes the money or gives it up. " + text
		}
		return text
	}
	if a.HoldToldAt != nil && a.NextCheckAt != nil {
		return "The provider is asked " + c.when(a) + " whether it still holds money, which it is to give up."
	}
	for _, r := range c.Refunds {
		if r.State == fsm.RefundPending && r.NextCheckAt != nil {
			return "The provider is asked about the refund again on " + clock(*r.NextCheckAt) + "."
		}
	}
	return "Nothing more happens by itself."
}

// waiting is the oldest discrepancy that nobody has resolved.
func (c Case) waiting() *Discrepancy {
	for i := range c.Discrepancies {
		if c.Discrepancies[i].Resolved == nil {
			return &c.Discrepancies[i]
		}
	}
	return nil
}

func (c Case) when(a payment.Attempt) string {
	switch {
	case a.NextCheckAt == nil:
		return "soon"
	case a.NextCheckAt.After(c.ReadAt):
		return "on " + clock(*a.NextCheckAt)
	}
	return "within seconds"
}

func (c Case) mayPayAgain() string {
	live := c.Order.Live()
	switch paid := c.Order.Status() == payment.OrderPaid; {
	case paid && (live != nil && live.ID == c.Attempt.ID):
		return "The customer must not pay again: the order is paid."
	case paid && c.Order.Accepted != nil && *c.Order.Accepted == c.Attempt.ID:
		return "The customer must not pay again: the order is paid by this money."
	case paid:
		return "The customer must not pay again: the order is paid by another payment."
	case live == nil && c.Order.HoldsMoney():
		return `The customer must not pay again. What to say: "` + payment.LateMoneyText + `"`
	case c.Order.CancelRequestedAt != nil:
		return "The customer can't pay again: the order was cancelled."
	case live != nil && live.ID == c.Attempt.ID:
		return "The customer must not pay again meanwhile; another try would be refused."
	case live != nil:
		return "The customer must not pay again: another payment of this order is under way."
	case c.Order.TakesPay() != nil:
		return "The customer can pay again once it is known that the provider holds no money for this order."
	}
	return "The customer may pay again."
}
