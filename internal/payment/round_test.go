package payment_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// price is the amount of the attempts, in cents.
const price = 1999

// disputedBy is an attempt of 19.99 that was captured, after reports of a dispute's money.
func disputedBy(told ...payment.MovementReport) (payment.Attempt, map[string][]payment.DisputeMove) {
	a := payment.Attempt{Money: payment.Money{Minor: price, Currency: "EUR"}, State: fsm.Processing, ProviderPaymentID: "pay_1"}
	captured := payment.MovementReport{Kind: payment.MovementCapture, Money: a.Money}
	payment.Advance(&a, payment.Report{Payment: "pay_1", Event: fsm.EventSucceeded, Movements: []payment.MovementReport{captured}}, disputeEpoch)
	moves := map[string][]payment.DisputeMove{}
	for i, t := range told {
		add, lacking := a.RoundsOf(t, moves[t.Dispute])
		if add != nil {
			moves[t.Dispute] = append(moves[t.Dispute], *add)
		}
		r := payment.Report{Payment: "pay_1", Event: fsm.EventMoney, Movements: lacking, Cause: payment.Cause{Kind: payment.CauseWebhook, ID: strconv.Itoa(i)}}
		payment.Advance(&a, r, disputeEpoch.AddDate(1, 0, i))
	}
	return a, moves
}

// takes and returns are reports about dispute dp_1, some seconds after it began.
func takes(entry string, amount int64, second int) payment.MovementReport {
	t := payment.MovementReport{Kind: payment.MovementChargeback, Dispute: "dp_1", ID: entry, Money: payment.Money{Minor: amount, Currency: "EUR"}}
	if second > 0 {
		t.At = disputeEpoch.Add(time.Duration(second) * time.Second)
	}
	return t
}

func returns(entry string, amount int64, second int) payment.MovementReport {
	t := takes(entry, amount, second)
	t.Kind = payment.MovementChargebackReversal
	return t
}

func whole(t payment.MovementReport) payment.MovementReport { t.Whole = true; return t }

func unstated(t payment.MovementReport) payment.MovementReport { t.Money = payment.Money{}; return t }

func TestRoundsOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		told []payment.MovementReport
		want int64
	}{
		"taken":                             {[]payment.MovementReport{takes("", 1999, 1)}, 1999},
		"taken, told later again":           {[]payment.MovementReport{takes("", 1999, 1), takes("", 1999, 3)}, 1999},
		"won":                               {[]payment.MovementReport{takes("", 1999, 1), returns("", 1999, 2)}, 0},
		"taken again":                       {[]payment.MovementReport{takes("", 1999, 1), returns("", 1999, 2), takes("", 1999, 3)}, 1999},
		"taken again by entries":            {[]payment.MovementReport{takes("t1", 1999, 1), returns("t2", 1999, 2), takes("t3", 1999, 3)}, 1999},
		"more is taken again":               {[]payment.MovementReport{takes("", 1999, 1), returns("", 1999, 2), takes("", 2199, 3)}, 2199},
		"a part comes back":                 {[]payment.MovementReport{takes("", 1999, 1), returns("", 500, 2)}, 1499},
		"the part is taken again":           {[]payment.MovementReport{takes("", 1999, 1), returns("", 500, 2), takes("", 500, 3)}, 1999},
		"the part, by the dispute's amount": {[]payment.MovementReport{takes("", 1999, 1), returns("", 500, 2), takes("", 1999, 3)}, 1999},
		"an entry is less than what was said of it": {[]payment.MovementReport{takes("", 1999, 1), returns("", 1999, 2), returns("t2", 500, 2)}, 1499},
		"a part beside the dispute's amount":        {[]payment.MovementReport{takes("", 1999, 1), whole(returns("", 1999, 3)), returns("", 500, 2)}, 1499},
		"all that is out comes back":                {[]payment.MovementReport{takes("", 1999, 1), unstated(returns("", 0, 2))}, 0},
		"nothing was out":                           {[]payment.MovementReport{unstated(returns("", 0, 2))}, 0},
		"nothing was out, and then it was taken":    {[]payment.MovementReport{unstated(returns("", 0, 2)), takes("", 1999, 3)}, 1999},
		"a report is missing":                       {[]payment.MovementReport{returns("", 1999, 2), takes("", 2199, 3)}, 2199},
		"an entry is missing":                       {[]payment.MovementReport{returns("t2", 1999, 2), takes("t3", 1999, 3)}, 1999},
		"two entries of a round":                    {[]payment.MovementReport{takes("t1", 1000, 1), takes("t2", 999, 2)}, 1999},
		"no clock":                                  {[]payment.MovementReport{takes("", 1999, 0), takes("", 1999, 0)}, 1999},
		"no clock, won":                             {[]payment.MovementReport{takes("", 1999, 0), returns("", 1999, 0)}, 0},
		"no clock beside one":                       {[]payment.MovementReport{takes("", 1999, 1), takes("", 1999, 0), returns("", 500, 2), whole(returns("", 1999, 0))}, 1499},
		"an entry without a clock":                  {[]payment.MovementReport{takes("t1", 1999, 0), takes("", 1999, 1)}, 1999},
		"without an amount":                         {[]payment.MovementReport{unstated(takes("", 0, 1))}, 1999},
		// Without a clock a second round can't be distinguished from the first.
		"no clock, taken again": {[]payment.MovementReport{takes("", 1999, 0), returns("", 1999, 0), takes("", 1999, 0)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, order := range permutations(len(c.told)) {
				told := make([]payment.MovementReport, 0, 2*len(order))
				for _, i := range order {
					told = append(told, c.told[i], c.told[order[0]])
				}
				a, moves := disputedBy(told...)
				require.Equal(t, c.want, a.Disputed, "%v: %+v", order, a.Movements)
				took, gave := a.DisputeLacks("dp_1", moves["dp_1"])
				require.Equal(t, [2]int64{}, [2]int64{took, gave})
			}
		})
	}
}

// A round is a movement of its own, and has the time of the report that began it.
func TestRoundsOf_names(t *testing.T) {
	t.Parallel()
	said := func(told ...payment.MovementReport) (all []string) {
		a, _ := disputedBy(told...)
		for _, m := range a.Movements[1:] {
			all = append(all, fmt.Sprintf("%s %s %d at %d of %s", m.Kind, m.ProviderID, m.Money.Minor, m.At.Unix()-disputeEpoch.Unix(), m.Dispute))
		}
		return all
	}
	require.Equal(t, []string{
		"chargeback dp_1 1999 at 1 of dp_1", "chargeback_reversal dp_1 1999 at 2 of dp_1", "chargeback dp_1#2 1999 at 3 of dp_1",
	}, said(takes("", 1999, 1), returns("", 1999, 2), takes("", 1999, 3)))
	require.Equal(t, []string{
		"chargeback dp_1 1999 at 1 of dp_1", "chargeback dp_1#2 1999 at 3 of dp_1", "chargeback_reversal dp_1 1999 at 2 of dp_1",
	}, said(takes("", 1999, 1), takes("", 1999, 3), returns("", 1999, 2)), "what came back has two rounds where one was known")
	require.Equal(t, []string{
		"chargeback t1 1999 at 1 of dp_1", "chargeback_reversal t2 500 at 2 of dp_1",
	}, said(takes("t1", 1999, 1), returns("t2", 500, 2), takes("", 1999, 1)))
	require.Equal(t, []string{
		"chargeback dp_1 1999 at 1 of dp_1", "chargeback_reversal dp_1 1999 at 2 of dp_1", "chargeback_reversal  -1499 at 2 of dp_1",
	}, said(takes("", 1999, 1), returns("", 1999, 2), returns("t2", 500, 2)))
}

// Movements from before movements had a dispute are not counted again.
func TestRoundsOf_old_movements(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]payment.MovementReport{"by its round": takes("", 1999, 2), "by its entry": takes("t1", 1999, 1), "by an old entry": takes("le_1", 500, 3)} {
		a, _ := disputedBy()
		for _, old := range []payment.MovementReport{
			{Kind: payment.MovementChargeback, ID: "dp_1", Money: a.Money, At: disputeEpoch.Add(time.Second)},
			{Kind: payment.MovementChargeback, ID: "le_1", Money: payment.Money{Minor: 500, Currency: "EUR"}},
		} {
			payment.Advance(&a, payment.Report{Payment: "pay_1", Event: fsm.EventMoney, Movements: []payment.MovementReport{old}}, disputeEpoch)
		}
		if told.ID == "le_1" {
			told.Dispute = "dp_2"
		}
		add, lacking := a.RoundsOf(told, nil)
		require.NotNil(t, add, name)
		require.Empty(t, lacking, name)
	}
	a, _ := disputedBy()
	old := payment.MovementReport{Kind: payment.MovementChargeback, ID: "dp_1", Money: a.Money, At: disputeEpoch.Add(time.Second)}
	payment.Advance(&a, payment.Report{Payment: "pay_1", Event: fsm.EventMoney, Movements: []payment.MovementReport{old}}, disputeEpoch)
	add, lacking := a.RoundsOf(returns("", 1999, 2), nil)
	require.Len(t, lacking, 1)
	payment.Advance(&a, payment.Report{Payment: "pay_1", Event: fsm.EventMoney, Movements: lacking}, disputeEpoch)
	_, lacking = a.RoundsOf(takes("", 1999, 3), []payment.DisputeMove{*add})
	require.Len(t, lacking, 1)
	require.Equal(t, "dp_1#2", lacking[0].ID)
}

// aCourse is a course of up to four rounds, each taken, and returned in part or whole, except for the last. It has the
// reports of the course, and the money that the dispute holds at its end.
var aCourse = rapid.Custom(func(t *rapid.T) (c struct {
	told []payment.MovementReport
	out  int64
},
) {
	second, back := 0, int64(0)
	// One move is reported by its entry, by one or more reports without a name, or by both; beside that the dispute's
	// amount may be stated.
	move := func(kind payment.MovementKind, amount int64, all bool) {
		how := rapid.IntRange(1, 3).Draw(t, "by entry, by time, by both")
		for n := range rapid.IntRange(1, 3).Draw(t, "reports") {
			second++
			told := takes("", amount, second)
			told.Kind = kind
			if how == 1 || how == 3 && n == 0 {
				told.ID = fmt.Sprintf("txn_%s_%d", kind, amount*100+int64(len(c.told)-n))
			}
			if how == 3 && n > 0 || n > 0 && rapid.Bool().Draw(t, "dispute's amount") {
				told = whole(told)
				told.ID, told.Money.Minor = "", price
			}
			if how != 1 && all && kind == payment.MovementChargebackReversal && rapid.Bool().Draw(t, "amount is left out") {
				told.ID, told = "", unstated(told)
			}
			c.told = append(c.told, told)
		}
	}
	for range rapid.IntRange(1, 4).Draw(t, "rounds") {
		amount := rapid.Int64Range(1, price).Draw(t, "taken")
		if c.out > 0 {
			amount = rapid.Int64Range(1, back).Draw(t, "taken again")
		}
		move(payment.MovementChargeback, amount, false)
		if c.out += amount; back >= amount {
			back -= amount
		} else {
			back = 0
		}
		if rapid.IntRange(0, 3).Draw(t, "ends so") == 0 {
			break
		}
		amount = c.out
		if rapid.Bool().Draw(t, "only a part comes back") {
			amount = rapid.Int64Range(1, c.out).Draw(t, "returned")
		}
		move(payment.MovementChargebackReversal, amount, amount == c.out)
		c.out -= amount
		back += amount
	}
	return c
})

func TestRoundsOf_any_order(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := aCourse.Draw(rt, "course")
		again := rapid.SliceOfN(rapid.SampledFrom(c.told), 0, 6).Draw(rt, "told again")
		mixed := rapid.Permutation(append(again, c.told...)).Draw(rt, "in this order")
		a, moves := disputedBy(mixed...)
		require.Equal(rt, c.out, a.Disputed, "%+v", a.Movements)
		took, gave := a.DisputeLacks("dp_1", moves["dp_1"])
		require.Equal(rt, [2]int64{}, [2]int64{took, gave})
		for _, told := range c.told {
			a.Moves = moves[told.Dispute]
			require.False(rt, a.LacksRound(told), "%+v in %+v", told, a.Movements)
		}
	})
}

// permutations are all orders of n things.
func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, p := range permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return all
}
