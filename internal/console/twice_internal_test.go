package console

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// paid is a payment of €19.99 at so much after noon.
func paid(order payment.OrderID, after time.Duration, change ...func(a *payment.Attempt)) payment.Attempt {
	a := payment.Attempt{
		ID: payment.AttemptID(uuid.Must(uuid.NewV7())), OrderID: order, UserID: "u1", State: fsm.Succeeded,
		Money: payment.Money{Minor: 1999, Currency: "EUR"}, Captured: 1999, CreatedAt: noon.Add(after),
	}
	for _, f := range change {
		f(&a)
	}
	return a
}

func declined(a *payment.Attempt) { a.State, a.Captured = fsm.Failed, 0 }
func held(a *payment.Attempt)     { a.State, a.Captured, a.Authorized = fsm.Authorized, 0, 1999 }
func unknown(a *payment.Attempt)  { a.State, a.Captured = fsm.OutcomeUnknown, 0 }
func waiting(a *payment.Attempt)  { a.State, a.Captured = fsm.AwaitingCustomer, 0 }
func late(a *payment.Attempt)     { a.State = fsm.Failed }
func refunded(a *payment.Attempt) { a.Refunded = a.Captured }
func partly(a *payment.Attempt)   { a.Refunded = 500 }
func cheaper(a *payment.Attempt)  { a.Money.Minor, a.Captured = 1998, 1998 }
func dollars(a *payment.Attempt)  { a.Money.Currency = "USD" }

// orders are those of attempts, newest first.
func orders(attempts ...payment.Attempt) (list []payment.Order) {
	at := map[payment.OrderID]int{}
	for _, a := range attempts {
		if _, found := at[a.OrderID]; !found {
			at[a.OrderID] = len(list)
			list = append(list, payment.Order{ID: a.OrderID, UserID: "u1", Money: a.Money, CreatedAt: a.CreatedAt})
		}
		o := &list[at[a.OrderID]]
		o.Attempts = append(o.Attempts, a)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	const (
		times  = "€19.99 for order A at 2026-03-01 12:00:00, and €19.99 for order B at 2026-03-01 12:03:20, 4 minutes later"
		same   = "€19.99 for order A at 2026-03-01 12:00:00, and €19.99 for the same order at 2026-03-01 15:00:00, 3 hours later"
		noSign = "There is no sign that the customer was charged twice "
	)
	b := 3*time.Minute + 20*time.Second
	for name, c := range map[string]struct {
		orders []payment.Order
		answer string
		pairs  int
	}{
		"no order":                 {nil, "This customer has no orders.", 0},
		"no payment":               {orders(paid("A", 0, declined), paid("B", b, waiting)), "The customer was not charged among these 2 orders.", 0},
		"one":                      {orders(paid("A", 0)), noSign + "in this one order", 0},
		"two":                      {orders(paid("A", 0), paid("B", b)), "Perhaps the customer was charged twice: " + times + ".", 1},
		"ten minutes apart":        {orders(paid("A", 0), paid("B", near)), "Perhaps", 1},
		"longer apart":             {orders(paid("A", 0), paid("B", near+1)), noSign + "among these 2 orders", 0},
		"other amounts":            {orders(paid("A", 0), paid("B", b, cheaper)), noSign, 0},
		"other currencies":         {orders(paid("A", 0), paid("B", b, dollars)), noSign, 0},
		"one that was declined":    {orders(paid("A", 0), paid("B", b, declined)), noSign, 0},
		"a hold":                   {orders(paid("A", 0), paid("B", b, held)), "Perhaps the customer was charged twice: " + times + ".", 1},
		"an unknown outcome":       {orders(paid("A", 0, unknown), paid("B", b)), "Perhaps", 1},
		"the second refunded":      {orders(paid("A", 0), paid("B", b, refunded)), "Some payments look alike among these 2 orders, and at least one payment of each pair was refunded: " + times + ". The second payment was refunded later.", 1},
		"the first refunded":       {orders(paid("A", 0, refunded), paid("B", b)), "Some payments look alike", 1},
		"a part refunded":          {orders(paid("A", 0), paid("B", b, partly)), "Perhaps", 1},
		"twice in one order":       {orders(paid("A", 0, late), paid("A", 3*time.Hour)), "Perhaps the customer was charged twice: " + same + ".", 1},
		"declined in one order":    {orders(paid("A", 0, declined), paid("A", b)), noSign, 0},
		"three":                    {orders(paid("A", 0), paid("B", b), paid("C", 2*b)), "1 more pair of payments look alike.", 2},
		"seen from the other side": {orders(paid("B", b), paid("A", 0)), "Perhaps the customer was charged twice: " + times + ".", 1},
	} {
		v := customerView{Orders: c.orders, Pairs: pairsOf(c.orders)}
		require.Contains(t, v.Answer(), c.answer, name)
		require.Len(t, v.Pairs, c.pairs, name)
	}
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]string{
		0: "1 second", 500 * time.Millisecond: "1 second", 40 * time.Second: "40 seconds", time.Minute: "1 minute", 61 * time.Second: "2 minutes",
		119 * time.Minute: "119 minutes", 2 * time.Hour: "2 hours",
	} {
		require.Equal(t, "Paid twice within "+want+"?", pair{paid("A", 0), paid("B", after)}.Question())
	}
}

// There are at most twice as many pairs as payments, however many look alike.
func TestPairsAreFew(t *testing.T) {
	t.Parallel()
	var all []payment.Attempt
	for i := range 200 {
		all = append(all, paid(payment.OrderID(rune('A'+i)), time.Duration(i)*time.Second))
	}
	pairs := pairsOf(orders(all...))
	require.Len(t, pairs, 199)
	require.Equal(t, all[199].ID, pairs[0].Second.ID, "newest first")
	require.NotNil(t, customerView{Pairs: pairs}.twin(all[0].ID))
}

func TestTotals(t *testing.T) {
	t.Parallel()
	require.Equal(t, []total{
		{payment.Money{Minor: 3997, Currency: "EUR"}, payment.Money{Minor: 500, Currency: "EUR"}},
		{payment.Money{Minor: 1999, Currency: "USD"}, payment.Money{Minor: 1999, Currency: "USD"}},
	}, totalsOf(orders(paid("A", 0), paid("B", 0, cheaper, partly), paid("C", 0, dollars, refunded), paid("D", 0, declined))))
}
