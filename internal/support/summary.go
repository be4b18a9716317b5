package support

import (
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
	switch a.State {
	case fsm.Succeeded:
		text := what + " succeeded on " + clock(*a.FinalizedAt) + "."
		if a.Captured != a.Money.Minor {
			text += " " + c.money(a.Captured) + " were taken."
		}
		return text
	case fsm.Failed:
		return what + " failed on " + clock(*a.FinalizedAt) + ": " + c.failure()
	case fsm.OutcomeUnknown:
		return what + " was sent to the provider, and it is not known whether it was charged."
	case fsm.AwaitingCustomer:
		return what + " waits for the customer to confirm it on the provider's page."
	case fsm.Authorized:
		return what + " is held by the provider; nothing of it is taken yet."
	case fsm.Processing:
		return what + " is with the provider, which has not decided yet."
	case fsm.Requested:
	}
	return what + " was begun and is on its way to the provider."
}

// paidBack says what became of taken money.
func (c Case) paidBack() string {
	a := c.Attempt
	var parts []string
	if a.Failed() && a.Captured > 0 {
		parts = append(parts, "The provider took "+c.money(a.Captured)+" all the same.")
	}
	if a.Foreign.Minor > a.ForeignReturned {
		parts = append(parts, "The provider took "+a.Foreign.String()+", in another currency than the payment's, and nobody is known to have given it back.")
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
	times, undone := 0, false
	for _, a := range c.Order.Attempts {
		if a.Captured-a.Reversed-a.AmountDisputed() > 0 || a.Foreign.Minor > a.ForeignReturned {
			times++
		}
		undone = undone || a.Captured > 0
	}
	live := c.Order.Live()
	switch {
	case times > 1:
		return "The customer was charged " + strconv.Itoa(times) + " times for this order, by " + strconv.Itoa(times) + " payments."
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
	switch {
	case c.Order.Status() == payment.OrderPaid && live.ID == c.Attempt.ID:
		return "The customer must not pay again: the order is paid."
	case c.Order.Status() == payment.OrderPaid:
		return "The customer must not pay again: the order is paid by another payment."
	case c.Order.CancelRequestedAt != nil:
		return "The customer can't pay again: the order was cancelled."
	case live != nil && live.ID == c.Attempt.ID:
		return "The customer must not pay again meanwhile; another try would be refused."
	case live != nil:
		return "The customer must not pay again: another payment of this order is under way."
	case c.Order.HoldsMoney():
		return "The customer must not pay again: the provider holds money for this order."
	case c.Order.TakesPay() != nil:
		return "The customer can pay again once it is known that the provider holds no money for this order."
	}
	return "The customer may pay again."
}
