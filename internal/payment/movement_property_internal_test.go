package payment

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
)

// movementKinds are all of them.
func movementKinds() []MovementKind {
	return []MovementKind{
		MovementAuthorization, MovementRelease, MovementCapture, MovementCaptureReversal,
		MovementRefund, MovementRefundReversal, MovementChargeback, MovementChargebackReversal,
	}
}

// ends has the fields that must be the same in any order.
type ends struct {
	Authorized, Captured, Refunded, Disputed int64
	ForeignMoney                             bool
	Foreign                                  string
}

// sumsOf applies reports of money to a pending attempt that the provider calls pay_1.
func sumsOf(t *rapid.T, told []Report) (Attempt, ends) {
	a := Attempt{Money: Money{1999, "EUR"}, State: fsm.Processing, ProviderPaymentID: "pay_1", Payments: []Payment{{ID: "pay_1", State: fsm.PaymentProcessing}}}
	for i, r := range told {
		before := a
		transition, _ := Advance(&a, r, time.Unix(int64(i), 0))
		follows(t, before, a, transition)
	}
	return a, ends{a.Authorized, a.Captured, a.Refunded, a.Disputed, a.ForeignMoney, fmt.Sprint(a.in("USD").Facts())}
}

// follows requires that amounts are the sums of the movements, that recorded movements stay, that no state moves back,
// and that the version counts each change.
func follows(t *rapid.T, before, a Attempt, tr Transition) {
	sum := func(plus, minus MovementKind) int64 { return a.Sums(plus) - a.Sums(minus) }
	switch {
	case a.Authorized != sum(MovementAuthorization, MovementRelease), a.Captured != sum(MovementCapture, MovementCaptureReversal),
		a.Refunded != sum(MovementRefund, MovementRefundReversal), a.Disputed != sum(MovementChargeback, MovementChargebackReversal):
		t.Fatalf("the amounts %+v are not the sums of %+v", a.Facts(), a.Movements)
	case a.ForeignMoney != (a.in("USD").Held()+a.in("USD").OnHold() > 0):
		t.Fatalf("foreign money is %t, and the movements are %+v", a.ForeignMoney, a.Movements)
	case len(a.Movements) != a.LastMovement, !slices.Equal(a.Movements[:len(before.Movements)], before.Movements):
		t.Fatalf("the movements %+v became %+v", before.Movements, a.Movements)
	case before.State.Final() && a.State != before.State, a.State == fsm.Requested && before.State != fsm.Requested:
		t.Fatalf("%s became %s", before.State, a.State)
	case (tr.Version != 0) != (a.Facts() != before.Facts() || a.LastMovement != before.LastMovement), tr.Version != 0 && a.Version != before.Version+1:
		t.Fatalf("version %d became %d, by a transition of version %d", before.Version, a.Version, tr.Version)
	}
	for i, m := range a.Movements {
		if m.Number != i+1 || m.Money.Minor <= 0 && m.Source != MovementTotal || m.Money.Minor == 0 {
			t.Fatalf("movement %d is %+v", i+1, m)
		}
	}
	for _, kind := range movementKinds() {
		for _, c := range []Currency{"EUR", "USD"} {
			for _, payment := range []string{"", "pay_2"} {
				if of := a.sum(kind, c, func(m Movement) bool { return m.Payment == payment && m.Source == MovementTotal }); of < 0 {
					t.Fatalf("the totals of %s make %d %s", kind, of, c)
				}
			}
		}
	}
}

// aMovement draws a named movement, or a total; each id always has the same amount.
func aMovement() *rapid.Generator[Report] {
	return rapid.Custom(func(t *rapid.T) Report {
		told := MovementReport{
			Kind:  rapid.SampledFrom(movementKinds()).Draw(t, "kind"),
			Money: Money{rapid.SampledFrom([]int64{500, 700, 1999}).Draw(t, "amount"), rapid.SampledFrom([]Currency{"EUR", "EUR", "USD"}).Draw(t, "currency")},
		}
		payment := rapid.SampledFrom([]string{"pay_1", "pay_1", "pay_2"}).Draw(t, "payment")
		if id := rapid.SampledFrom([]string{"", "", "a", "b", "c"}).Draw(t, "id"); id != "" {
			told.ID = fmt.Sprintf("%s-%s-%d", payment, id, told.Money.Minor) + string(told.Money.Currency)
		}
		return Report{Payment: payment, Event: fsm.EventMoney, Movements: []MovementReport{told}, Cause: Cause{Kind: CauseWebhook, ID: "evt"}}
	})
}

// The same reports of money in any order and number end in the same sums, however the
// provider's channels mix names and totals.
func TestAdvance_anyOrderOfMovementsEndsInTheSameSums(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		told := rapid.SliceOfN(aMovement(), 1, 9).Draw(t, "told")
		a, want := sumsOf(t, told)
		counts(t, a, told)
		same := func(order []Report) {
			if _, got := sumsOf(t, order); got != want {
				t.Fatalf("%+v\nends as %+v, not as %+v", order, got, want)
			}
		}
		if len(told) <= 6 {
			permute(slices.Clone(told), len(told), same)
		}
		for range 5 {
			order := rapid.Permutation(told).Draw(t, "order")
			again := rapid.SliceOfN(rapid.SampledFrom(told), 0, 4).Draw(t, "again")
			for _, r := range again {
				order = slices.Insert(order, rapid.IntRange(0, len(order)).Draw(t, "at"), r)
			}
			same(order)
		}
	})
}

// counts requires each sum to be the sum of the names, or the largest total if that is more.
func counts(t *rapid.T, a Attempt, told []Report) {
	type of struct {
		kind     MovementKind
		currency Currency
		payment  string
	}
	names, named, totals := map[string]bool{}, map[of]int64{}, map[of]int64{}
	for _, r := range told {
		m := r.Movements[0]
		key := of{m.Kind, m.Money.Currency, keyOfReport(&a, r)}
		switch name := string(m.Kind) + m.ID; {
		case m.ID == "":
			totals[key] = max(totals[key], m.Money.Minor)
		case !names[name]:
			names[name] = true
			named[key] += m.Money.Minor
		}
	}
	for _, r := range told {
		m := r.Movements[0]
		key := of{m.Kind, m.Money.Currency, keyOfReport(&a, r)}
		got := a.sum(m.Kind, m.Money.Currency, func(m Movement) bool { return m.Payment == key.payment })
		if want := max(named[key], totals[key]); got != want {
			t.Fatalf("%v sums up to %d, not to %d", key, got, want)
		}
	}
}

// For any reports in any order, no state moves back, and amounts are sums.
func TestAdvance_neverMovesBack(t *testing.T) {
	t.Parallel()
	anyNews := rapid.SampledFrom(fsm.Events())
	rapid.Check(t, func(t *rapid.T) {
		told := rapid.SliceOfN(aMovement(), 1, 12).Draw(t, "told")
		for i := range told {
			r := &told[i]
			r.Event = anyNews.Draw(t, "says")
			r.Releases = rapid.SampledFrom([]HoldEnd{HoldsBefore, HoldsAll}).Draw(t, "ends the hold")
			if at := rapid.IntRange(0, 5).Draw(t, "at"); at > 0 {
				r.At = time.Unix(int64(at), 0)
				r.Movements[0].At = r.At
			}
		}
		a, _ := sumsOf(t, told)
		for i := range a.Payments {
			if p := &a.Payments[i]; a.Failed() && a.captures(a.PaymentKey(p)) > 0 && p.OnHold() > 0 {
				t.Fatalf("%d of %s are on hold after a capture", p.OnHold(), p.ID)
			}
		}
	})
}

// permute calls fn with each order of the first n (Heap's algorithm).
func permute(all []Report, n int, fn func([]Report)) {
	if n <= 1 {
		fn(all)
		return
	}
	for i := range n {
		permute(all, n-1, fn)
		if n%2 == 0 {
			all[i], all[n-1] = all[n-1], all[i]
		} else {
			all[0], all[n-1] = all[n-1], all[0]
		}
	}
}

// keyOfReport is the key by which the movements of a report's payment were recorded.
func keyOfReport(a *Attempt, r Report) string {
	if r.Payment == "" {
		return ""
	}
	return a.PaymentKey(a.Payment(r.Payment))
}
