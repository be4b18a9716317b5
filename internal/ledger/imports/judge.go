package imports

import (
	"errors"

	"github.com/paylatch/paylatch/internal/payment"
)

// known is the stored orders and names of a batch, with the names that the batch has taken so far.
type known struct {
	orders map[payment.OrderID]payment.Order
	owner  func(payment.Reference) (payment.AttemptID, bool)
	taken  map[payment.Reference]payment.AttemptID
}

func newKnown(orders map[payment.OrderID]payment.Order, owner func(payment.Reference) (payment.AttemptID, bool)) *known {
	return &known{orders: orders, owner: owner, taken: map[payment.Reference]payment.AttemptID{}}
}

// judge reports whether a payment is there already, or why it can't be made.
func (k *known) judge(p *Past) (there bool, wrong *RefusalError) {
	order, found := k.orders[p.Order]
	if found {
		if there, wrong := again(p, order); there || wrong != nil {
			return there, wrong
		}
		if wrong := agrees(p, order); wrong != nil {
			return false, wrong
		}
	}
	for _, name := range p.Names() {
		owner, taken := k.taken[name]
		if !taken {
			owner, taken = k.owner(name)
		}
		if !taken {
			continue
		}
		if a := order.Attempt(owner); a != nil && a.Origin != payment.OriginImported && a.ProviderPaymentID == p.Payment {
			return ended(p, a)
		}
		member := "references"
		if name.Name == p.Payment {
			member = "provider_payment_id"
		}
		return false, refuse(member, "%s belongs to attempt %s: a payment is imported once, and each id belongs to one payment", name.Name, owner)
	}
	if p.Succeeded && found {
		return false, unpaid(order)
	}
	return false, nil
}

// agrees compares a line with the order that is there.
func agrees(p *Past, o payment.Order) *RefusalError {
	switch {
	case o.UserID != p.User:
		return refuse("user_id", "order %s belongs to another user: the line must have the order's user", o.ID)
	case o.Money.Currency != p.Money.Currency:
		return refuse("currency", "order %s is in %s: the line must have the order's currency", o.ID, o.Money.Currency)
	case o.Money.Minor != p.Money.Minor:
		return refuse("amount", "order %s is for %d: the line must have this amount, and the captured amount as amount_captured", o.ID, o.Money.Minor)
	}
	return nil
}

// again reports whether the order has the line's request already.
func again(p *Past, o payment.Order) (there bool, wrong *RefusalError) {
	for i := range o.Attempts {
		a := &o.Attempts[i]
		if a.UserID != p.User || a.RequestID != p.Request {
			continue
		}
		imported := a.Origin == payment.OriginImported
		same := a.Account == p.Account && a.ProviderPaymentID == p.Payment && a.Money == p.Money
		if imported {
			same = a.RequestHash == p.Hash()
		}
		switch {
		case !same:
			return false, refuse("client_request_id", "%s belongs to attempt %s, which has other values: the imported payment does not change", p.Request, a.ID)
		case imported:
			return true, nil
		}
		return ended(p, a)
	}
	return false, nil
}

// ended reports whether an attempt that was made here has the outcome and the captured amount of the line. A line has at most the order's
// amount as captured.
func ended(p *Past, a *payment.Attempt) (there bool, wrong *RefusalError) {
	switch {
	case !a.State.Final():
		wrong = refuse("status", "the payment is attempt %s, which is not over: import the line when it is", a.ID)
		wrong.Later = true
	case a.Succeeded() != p.Succeeded || min(a.AmountCaptured(), a.Money.Minor) != p.AmountCaptured:
		wrong = refuse("status", "the payment is attempt %s, which %s here with %d captured: correct the line, or have the provider send its webhook again",
			a.ID, a.State, a.AmountCaptured())
	}
	return wrong == nil, wrong
}

// unpaid refuses a success for an order that is paid already, or takes no payment any more.
func unpaid(o payment.Order) *RefusalError {
	err := o.TakesPay()
	if err == nil {
		return nil
	}
	if late, ok := errors.AsType[*payment.LateMoneyError](err); ok {
		return refuse("status", "order %s is paid by late money of attempt %s: an order is paid once", o.ID, late.Attempt.ID)
	}
	if busy, ok := errors.AsType[*payment.InProgressError](err); ok {
		wrong := refuse("status", "order %s has the unfinished attempt %s: an order is paid once", o.ID, busy.Attempt.ID)
		wrong.Later = true
		return wrong
	}
	if live := o.Live(); live != nil {
		return refuse("status", "order %s is paid by attempt %s: an order is paid once", o.ID, live.ID)
	}
	return refuse("status", "%v: order %s accepts no payment; give the payment an order of its own", err, o.ID)
}

// add adds an attempt to its order, for the lines that follow.
func (k *known) add(p *Past, a payment.Attempt) {
	o, found := k.orders[p.Order]
	if !found {
		o = p.order()
	}
	o.Attempts = append(o.Attempts, a)
	k.orders[p.Order] = o
	for _, name := range p.Names() {
		k.taken[name] = a.ID
	}
}
