package console

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// The page of one customer shows all orders with their payments, newest first, the charged and refunded amounts,
// and possible double charges.
//
// Two payments look alike if the same amount was charged, or may have been charged, within ten minutes for different orders, or if both
// took money for one order. A hold and a payment of unknown outcome count, since a customer sees them on the statement, too. The page only
// asks: two tickets bought one after the other look the same.

const (
	// mostOrders are the orders of a page, mostRefunds the refunds, of these and newer orders.
	mostOrders  = 200
	mostRefunds = 500
)

// CustomerLists lists a customer's orders and refunds; *lists.Service in the program.
type CustomerLists interface {
	Orders(ctx context.Context, actor authz.Actor, q lists.Query) (lists.Page[payment.Order], error)
	Refunds(ctx context.Context, actor authz.Actor, q lists.Query) (lists.Page[payment.Refund], error)
}

// customerRoutes returns the page by its method and address.
func customerRoutes(l CustomerLists) map[string]Handler {
	return map[string]Handler{"GET /support/customers": func(v *Visit) error { return showCustomer(v, l) }}
}

// total is the amounts charged and refunded in one currency.
type total struct{ Charged, Refunded payment.Money }

// customerView is the content of the page.
type customerView struct {
	Frame
	ID      payment.UserID
	Orders  []payment.Order
	Refunds map[payment.AttemptID][]payment.Refund
	// Cut is set where some refunds are left out.
	Cut     bool
	Pairs   []pair
	Totals  []total
	Earlier bool
	Further string
}

func showCustomer(v *Visit, l CustomerLists) error {
	id := v.Query("id")
	if id == "" {
		return ErrNoPage
	}
	q, err := lists.Parse(lists.Orders, map[string]string{"user_id": id, "cursor": v.Query("cursor")})
	if err != nil {
		return err
	}
	q.Limit = mostOrders
	shown := customerView{Frame: v.Frame("Customer " + id), ID: payment.UserID(id), Earlier: v.Query("cursor") != ""}
	err = v.AuditLog.Watch(v.R.Context(), v.Who, support.ViewedCustomer, "user", id, func() error {
		page, err := l.Orders(v.R.Context(), v.Who.Actor, q)
		if err != nil {
			return err
		}
		shown.Orders, shown.Further = page.Items, v.Further(page.Next)
		shown.Refunds, shown.Cut, err = refundsOf(v.R.Context(), l, v.Who.Actor, page.Items)
		return err
	})
	if err != nil {
		return err
	}
	shown.Pairs, shown.Totals = pairsOf(shown.Orders), totalsOf(shown.Orders)
	return v.Show(customerPage(shown))
}

// refundsOf reads the refunds of orders, which are newest first and of one customer.
func refundsOf(ctx context.Context, l CustomerLists, who authz.Actor, orders []payment.Order) (map[payment.AttemptID][]payment.Refund, bool, error) {
	if len(orders) == 0 {
		return nil, false, nil
	}
	oldest := orders[len(orders)-1]
	q, err := lists.Parse(lists.Refunds, map[string]string{
		"user_id": string(oldest.UserID), "created_from": oldest.CreatedAt.UTC().Format(time.RFC3339Nano),
	})
	if err != nil {
		return nil, false, err
	}
	q.Limit = mostRefunds
	found, err := l.Refunds(ctx, who, q)
	of := map[payment.AttemptID][]payment.Refund{}
	for _, r := range found.Items {
		of[r.AttemptID] = append(of[r.AttemptID], r)
	}
	return of, found.Next != "", err
}

func totalsOf(orders []payment.Order) []total {
	sums := map[payment.Currency]total{}
	for _, o := range orders {
		for _, a := range o.Attempts {
			if a.AmountCaptured() == 0 && a.AmountRefunded() == 0 {
				continue
			}
			t := sums[a.Money.Currency]
			t.Charged = payment.Money{Minor: t.Charged.Minor + a.AmountCaptured(), Currency: a.Money.Currency}
			t.Refunded = payment.Money{Minor: t.Refunded.Minor + a.AmountRefunded(), Currency: a.Money.Currency}
			sums[a.Money.Currency] = t
		}
	}
	var totals []total
	for _, c := range slices.Sorted(maps.Keys(sums)) {
		totals = append(totals, sums[c])
	}
	return totals
}

// doubtful returns the pairs without a refund.
func (v customerView) doubtful() (pairs []pair) {
	for _, p := range v.Pairs {
		if !p.Settled() {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// Answer is whether the customer was charged twice, in a sentence.
func (v customerView) Answer() string {
	among := "among these " + count(len(v.Orders), "order")
	if len(v.Orders) == 1 {
		among = "in this one order"
	}
	switch doubtful := v.doubtful(); {
	case len(v.Orders) == 0:
		return "This customer has no orders. Customer ids are case-sensitive."
	case len(doubtful) > 0:
		p := doubtful[0]
		text := "Perhaps the customer was charged twice: " + p.words() + "."
		if len(doubtful) > 1 {
			text += " " + count(len(doubtful)-1, "more pair") + " of payments look alike."
		}
		return text
	case len(v.Pairs) > 0:
		return "Some payments look alike " + among + ", and at least one payment of each pair was refunded: " + v.Pairs[0].words() + ". " + v.Pairs[0].Outcome()
	case !slices.ContainsFunc(v.Orders, func(o payment.Order) bool {
		return slices.ContainsFunc(o.Attempts, func(a payment.Attempt) bool { return charged(a) > 0 })
	}):
		return "The customer was not charged " + among + "."
	}
	return "There is no sign that the customer was charged twice " + among + ": no two payments of the same amount were made within ten minutes, and no order was paid twice."
}

// words name the two payments, with both times.
func (p pair) words() string {
	second := "order " + string(p.Second.OrderID)
	if p.Second.OrderID == p.First.OrderID {
		second = "the same order"
	}
	return charge(p.First) + " for order " + string(p.First.OrderID) + " at " + Clock(p.First.CreatedAt) +
		", and " + charge(p.Second) + " for " + second + " at " + Clock(p.Second.CreatedAt) + ", " + p.Within() + " later"
}

// charge returns the amount of a payment that was charged or is held.
func charge(a payment.Attempt) string {
	return amount.In(a.Money.Currency, charged(a))
}

// twin is the other payment of the first pair that a payment is in; nil if there is none.
func (v customerView) twin(id payment.AttemptID) *payment.Attempt {
	for _, p := range v.Pairs {
		switch id {
		case p.First.ID:
			return &p.Second
		case p.Second.ID:
			return &p.First
		}
	}
	return nil
}

// customerStateWords is how a payment stands, in words.
func customerStateWords(a payment.Attempt) string {
	switch a.State {
	case fsm.OutcomeUnknown:
		return "outcome unknown"
	case fsm.AwaitingCustomer:
		return "waiting for the customer"
	case fsm.Authorized:
		return "held"
	case fsm.Succeeded:
		return stateNow(a)
	case fsm.Requested, fsm.Processing, fsm.Failed:
	}
	return string(a.State)
}

// moved describes the movements of a payment's money.
func moved(a payment.Attempt) string {
	var text strings.Builder
	for _, m := range []struct {
		what  string
		minor int64
	}{{"charged", a.AmountCaptured()}, {"refunded", a.AmountRefunded()}, {"disputed", a.AmountDisputed()}} {
		if m.minor > 0 {
			text.WriteString(", " + m.what + " " + amount.In(a.Money.Currency, m.minor))
		}
	}
	return text.String()
}
