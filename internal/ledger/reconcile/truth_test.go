package reconcile_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/ledger/verify"
	"github.com/paylatch/paylatch/internal/payment"
)

// entry is a movement as the sandbox's ledger has it.
type entry struct {
	EntryID   string `json:"entry_id"`
	Kind      string
	Reference string
	Amount    int64
}

func (w *world) ledger(t *testing.T) (all []entry) {
	t.Helper()
	require.Equal(t, http.StatusOK, w.call(t, http.MethodGet, "/v1/ledger", "", &all))
	return all
}

// differing are the payments with an amount that differs from the ledger's sum, with both: captured, refunded, disputed.
func (w *world) differing(t *testing.T) (all []string) {
	t.Helper()
	sums := map[string]*[3]int64{}
	for _, e := range w.ledger(t) {
		if sums[e.Reference] == nil {
			sums[e.Reference] = &[3]int64{}
		}
		switch of := sums[e.Reference]; e.Kind {
		case "charge":
			of[0] += e.Amount
		case "refund":
			of[1] += e.Amount
		case "chargeback":
			of[2] += e.Amount
		case "chargeback_reversal":
			of[2] -= e.Amount
		default:
			require.Fail(t, "an unfamiliar kind", e.Kind)
		}
	}
	here := map[string]string{}
	for _, row := range w.rows(t, "SELECT concat_ws(' ', attempt_id, amount_captured, amount_refunded, amount_disputed) FROM payment_attempts") {
		id, amounts, _ := strings.Cut(row, " ")
		here[id] = amounts
	}
	require.Len(t, here, len(w.payments))
	for _, p := range w.payments {
		there := [3]int64{}
		if of := sums[p.attempt.String()]; of != nil {
			there = *of
		}
		delete(sums, p.attempt.String())
		if is := strings.Trim(fmt.Sprint(there), "[]"); here[p.attempt.String()] != is {
			all = append(all, fmt.Sprintf("%s %s: %s here, %s in the ledger", p.order, p.token, here[p.attempt.String()], is))
		}
	}
	require.Empty(t, sums, "payments that only the ledger has")
	return all
}

// refundsAgree: each refund of the ledger is here, succeeded with its amount, and no other has succeeded or is open.
func (w *world) refundsAgree(t *testing.T) {
	t.Helper()
	var there []string
	for _, e := range w.entries(t) {
		if e.Movement.Kind == payment.MovementRefund {
			there = append(there, fmt.Sprintf("%s %s %d succeeded", e.References[0], e.Movement.ID, e.Movement.Money.Minor))
		}
	}
	slices.Sort(there)
	here := w.rows(t, `SELECT concat_ws(' ', attempt_id, provider_refund_id, amount, status) FROM refunds WHERE status <> 'failed'`)
	slices.Sort(here)
	require.NotEmpty(t, there)
	require.Equal(t, there, here)
}

// entries are the entries of all days.
func (w *world) entries(t *testing.T) (all []gateway.Entry) {
	t.Helper()
	require.NoError(t, w.books.Accounts.Get(account).Books.Entries(t.Context(), w.whole(), func(e gateway.Entry) error {
		all = append(all, e)
		return nil
	}))
	return all
}

// whole is the span of all that happened.
func (w *world) whole() gateway.Span { return gateway.Span{From: w.began, To: w.Now()} }

// dispute is a dispute at the sandbox.
type dispute struct {
	ID, Status string
	Movements  []struct {
		EntryID string `json:"entry_id"`
		Kind    string
		At      string
	}
	Updated string
}

// disputes are the disputes of a payment at the sandbox.
func (w *world) disputes(t *testing.T, p *made) []dispute {
	t.Helper()
	var found struct{ Disputes []dispute }
	if c := w.charge(t, p); c.ID != "" {
		require.Equal(t, http.StatusOK, w.call(t, http.MethodGet, "/v1/charges/"+c.ID, "", &found))
	}
	return found.Disputes
}

// disputesAgree requires each dispute whose last action moved money, or each dispute if all is set, to have the
// sandbox's status, at its payment. No other dispute exists here. If all is set, each inquiry has a discrepancy.
func (w *world) disputesAgree(t *testing.T, all bool) (n int) {
	t.Helper()
	here, told := map[string]string{}, w.rows(t, "SELECT about_id FROM discrepancies WHERE kind = 'disputed'")
	for _, row := range w.rows(t, "SELECT concat_ws(' ', provider_dispute_id, attempt_id, status) FROM disputes") {
		id, standing, _ := strings.Cut(row, " ")
		here[id] = standing
	}
	for _, p := range w.payments {
		for _, d := range w.disputes(t, p) {
			n++
			if moved := len(d.Movements) > 0 && d.Movements[len(d.Movements)-1].At == d.Updated; all || moved {
				require.Equal(t, p.attempt.String()+" "+d.Status, here[d.ID], "%s %s", p.order, d.ID)
			}
			if all && d.Status == "warning" {
				require.Contains(t, told, "warning "+d.ID, p.order)
			}
			delete(here, d.ID)
		}
	}
	require.Empty(t, here)
	return n
}

// justified: the open discrepancies are exactly the chargebacks of the ledger, each once, the disputes of the sandbox,
// and money that arrived, or came back, after its payment had failed.
func (w *world) justified(t *testing.T) map[string]int {
	t.Helper()
	chargebacks, late, disputed := map[string]bool{}, map[string]bool{}, map[string]bool{}
	returned, kinds := map[string]int{}, map[string]int{}
	for _, e := range w.ledger(t) {
		switch e.Kind {
		case "chargeback":
			chargebacks[e.Reference+" chargeback "+e.EntryID] = true
		case "chargeback_reversal":
			returned[e.Reference]++
		}
	}
	for _, p := range w.payments {
		if p.token == "tok_late_success" {
			late[p.attempt.String()] = true
		}
		for _, d := range w.disputes(t, p) {
			disputed[p.attempt.String()+" "+d.ID] = true
		}
	}
	for _, row := range w.rows(t, "SELECT concat_ws(' ', kind, attempt_id, about_id) FROM discrepancies WHERE resolved_at IS NULL") {
		kind, about, _ := strings.Cut(row, " ")
		kinds[kind]++
		switch kind {
		case string(payment.PaymentReversed):
			require.True(t, chargebacks[about], row)
			delete(chargebacks, about)
		case string(payment.LateSuccess):
			attempt, how, _ := strings.Cut(about, " ")
			if strings.HasPrefix(how, "returned ") { // to a payment that failed, after all of it was gone
				returned[attempt]--
				require.GreaterOrEqual(t, returned[attempt], 0, row)
				continue
			}
			require.True(t, late[attempt], row)
			delete(late, attempt)
		case string(payment.Disputed):
			words := strings.Fields(about) // the payment, the stage, the dispute
			require.Len(t, words, 3, row)
			require.True(t, disputed[words[0]+" "+words[2]], row)
		default:
			require.Fail(t, "a discrepancy without a cause at the provider", row)
		}
	}
	require.Empty(t, chargebacks, "chargebacks that no person sees")
	require.Empty(t, late, "late money that no person sees")
	return kinds
}

func (w *world) verified(t *testing.T) {
	t.Helper()
	v, err := verify.Verify(t.Context(), w.store.Evidence(), payment.AttemptID{}, 1000, false)
	require.NoError(t, err)
	require.Empty(t, v.Differences)
}

// stored is all that a run could change.
func (w *world) stored(t *testing.T) (all []string) {
	t.Helper()
	for _, table := range []string{"payment_attempts", "attempt_transitions", "money_movements", "refunds", "disputes", "operations", "discrepancies", "outbox", "orders", "settlements"} {
		all = append(all, w.rows(t, "SELECT '"+table+" ' || to_jsonb(r)::text FROM "+table+" r ORDER BY 1")...)
	}
	return all
}

// again reconciles all of the time once more, and returns the counts.
func (w *world) again(t *testing.T) reconcile.Count {
	t.Helper()
	n, err := w.books.Run(t.Context(), reconcile.Request{
		Account: account, Span: w.whole(), By: "cli:test", Progress: func(reconcile.Count) {}, Found: func(payment.Discrepancy) {},
	})
	require.NoError(t, err)
	return n
}
