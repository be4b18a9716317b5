package reconcile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// A payment that only a mark of a browser's ties to the attempt counts with the whole amount, in the account's mode and for its payee.
// Where only the account's own keys can write the mark, a part of the amount is a part that was paid.
func claims(t *testing.T) {
	t.Parallel()
	test, payee := false, func(e *gateway.Entry) { e.Payee = "somebody" }
	part := func(e *gateway.Entry) { e.Movement.Money.Minor = 1 }
	for name, tt := range map[string]struct {
		browser  bool
		change   func(*gateway.Entry)
		captured int64
		found    string
	}{
		"whole":      {true, func(*gateway.Entry) {}, price, ""},
		"part":       {true, part, 0, "needs_review unproven_payment PM1"},
		"part_known": {true, func(e *gateway.Entry) { part(e); e.References = append(e.References, "pay_A-1") }, 1, "amount_mismatch  0.01 EUR"},
		"part_ours":  {false, part, 1, "amount_mismatch  0.01 EUR"},
		"payee":      {true, payee, 0, "needs_review other_payee PM1"},
		"mode":       {true, func(e *gateway.Entry) { e.Live = &test }, 0, "needs_review other_mode PM1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, live := newEnv(t), true
			of := r.Accounts.Get(reconcileAccount)
			of.Live, of.Payees = &live, []string{"us"}
			if tt.browser {
				of.BooksMarks = gateway.MarksByBrowser
			}
			r.Accounts.Replace(map[string]gateway.Account{reconcileAccount: of})
			r.bank.contains, r.bank.next = true, gateway.Outcome{Event: fsm.EventActionRequired}
			a := r.pay(t, "A-1")
			e := captured("PM1")
			e.References = []string{a.ID.String()}
			tt.change(&e)
			r.bank.books = []gateway.Entry{e}
			r.reconcile(t)
			require.Equal(t, tt.captured, r.attempt(t, a.ID).Captured)
			if tt.found == "" {
				require.Empty(t, r.open(t))
			} else {
				require.Contains(t, r.open(t), tt.found)
			}
		})
	}
}
