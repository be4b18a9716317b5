package payment

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
)

// importedAt is when a payment was imported whose refunds the tests report.
var importedAt = time.Unix(1000, 0)

// importedRefunds are the refunds of an imported payment, and the later reports of its provider.
type importedRefunds struct {
	before, after []int64
	told          []Report
}

func sumOf(amounts []int64) (sum int64) {
	for _, amount := range amounts {
		sum += amount
	}
	return sum
}

func (i importedRefunds) report(t MovementReport) Report {
	t.Kind, t.Money.Currency = MovementRefund, "EUR"
	return Report{Payment: "pay_1", Event: fsm.EventMoney, Movements: []MovementReport{t}, Cause: Cause{Kind: CauseWebhook, ID: "evt"}}
}

// someImportedRefunds draws refunds. Refunds since the import are named, refunds before it perhaps. Any totals come in
// between.
func someImportedRefunds() *rapid.Generator[importedRefunds] {
	return rapid.Custom(func(t *rapid.T) (i importedRefunds) {
		amount := rapid.Int64Range(1, 9)
		i.before, i.after = rapid.SliceOfN(amount, 0, 3).Draw(t, "before"), rapid.SliceOfN(amount, 0, 3).Draw(t, "after")
		for n, minor := range i.before {
			if rapid.Bool().Draw(t, "named") {
				at := importedAt.Add(-time.Minute)
				if rapid.Bool().Draw(t, "undated") {
					at = time.Time{}
				}
				i.told = append(i.told, i.report(MovementReport{ID: fmt.Sprintf("old_%d", n), Money: Money{Minor: minor}, At: at}))
			}
		}
		for n, minor := range i.after {
			at := importedAt.Add(time.Duration(n+1) * time.Minute)
			i.told = append(i.told, i.report(MovementReport{ID: fmt.Sprintf("new_%d", n), Money: Money{Minor: minor}, At: at}))
			if rapid.Bool().Draw(t, "total") {
				i.told = append(i.told, i.report(MovementReport{Money: Money{Minor: sumOf(i.before) + sumOf(i.after[:n+1])}, At: at}))
			}
		}
		return i
	})
}

// An imported total contains the refunds before the import and no later ones: in any order of names and totals, each
// refund counts once.
func TestAdvance_importedTotalContainsWhatWasBefore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		i := someImportedRefunds().Draw(t, "refunds")
		order := rapid.Permutation(append(i.told, i.told[:len(i.told)/2]...)).Draw(t, "order")
		a := Attempt{Money: Money{1999, "EUR"}, State: fsm.Succeeded, ProviderPaymentID: "pay_1"}
		if sum := sumOf(i.before); sum > 0 {
			r := i.report(MovementReport{Money: Money{Minor: sum}, At: importedAt.Add(-time.Minute)})
			r.Cause.Kind = CauseImport
			Advance(&a, r, importedAt)
		}
		for n, r := range order {
			Advance(&a, r, importedAt.Add(time.Duration(n+1)*time.Hour))
		}
		if want := sumOf(i.before) + sumOf(i.after); a.Refunded != want {
			t.Fatalf("%d are refunded, not %d, by %+v", a.Refunded, want, a.Movements)
		}
	})
}
