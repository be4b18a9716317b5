package console

import (
	"slices"
	"strconv"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// near is how close together two payments of one amount for different orders are doubtful.
const near = 10 * time.Minute

// pair is two payments that look as if the customer paid twice, the earlier one first.
type pair struct{ First, Second payment.Attempt }

// charged is the amount of a payment that a customer may see on the statement, in minor units; 0 for nothing.
func charged(a payment.Attempt) int64 {
	switch {
	case a.AmountCaptured() > 0:
		return a.AmountCaptured()
	case a.State == fsm.Authorized, a.State == fsm.OutcomeUnknown, a.OnHold() > 0:
		return a.Money.Minor
	}
	return 0
}

// pairsOf returns the pairs among the payments of a customer, newest first. Each payment is compared with the one before it, so that there are
// at most as many pairs as payments, twice.
func pairsOf(orders []payment.Order) (pairs []pair) {
	var all []payment.Attempt
	for _, o := range orders {
		var last *payment.Attempt
		for i := range o.Attempts {
			a := &o.Attempts[i]
			if charged(*a) == 0 {
				continue
			}
			if last != nil {
				pairs = append(pairs, pair{*last, *a})
			}
			last = a
			all = append(all, *a)
		}
	}
	pairs = append(pairs, alike(all)...)
	slices.SortStableFunc(pairs, func(a, b pair) int { return b.Second.CreatedAt.Compare(a.Second.CreatedAt) })
	return pairs
}

// alike returns the pairs of one amount in different orders, of payments in any order.
func alike(all []payment.Attempt) (pairs []pair) {
	slices.SortStableFunc(all, func(a, b payment.Attempt) int { return a.CreatedAt.Compare(b.CreatedAt) })
	before := map[payment.Money]payment.Attempt{}
	for _, a := range all {
		amount := payment.Money{Minor: charged(a), Currency: a.Money.Currency}
		last, found := before[amount]
		if found && last.OrderID != a.OrderID && a.CreatedAt.Sub(last.CreatedAt) <= near {
			pairs = append(pairs, pair{last, a})
		}
		before[amount] = a
	}
	return pairs
}

// Settled reports whether the money of at least one of the two payments was given back.
func (p pair) Settled() bool { return givenBack(p.First) || givenBack(p.Second) }

func givenBack(a payment.Attempt) bool {
	return a.AmountCaptured() > 0 && a.Held() == 0 && a.OnHold() == 0
}

// Within is how far apart the two are, in words.
func (p pair) Within() string {
	d := p.Second.CreatedAt.Sub(p.First.CreatedAt)
	if d < time.Minute {
		return count(max(1, int(d.Round(time.Second)/time.Second)), "second")
	}
	if d < 2*time.Hour {
		return count(int((d+time.Minute-1)/time.Minute), "minute")
	}
	return count(int((d+time.Hour-1)/time.Hour), "hour")
}

// Question asks whether the customer paid twice.
func (p pair) Question() string { return "Paid twice within " + p.Within() + "?" }

// Outcome describes how the two payments ended.
func (p pair) Outcome() string {
	switch {
	case givenBack(p.First) && givenBack(p.Second):
		return "Both payments were refunded later."
	case givenBack(p.First):
		return "The first payment was refunded later."
	case givenBack(p.Second):
		return "The second payment was refunded later."
	case p.First.AmountCaptured() == 0 || p.Second.AmountCaptured() == 0:
		return "At most one of the two is captured. A hold, or a payment with an unknown outcome, may still end without a charge."
	}
	return "Both payments are charged, and neither is refunded in full."
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
