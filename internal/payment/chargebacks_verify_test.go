package payment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// Every way in which an attempt and its movements can part is seen.
func TestEachCorruptionOfMovementsIsReported(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	a := r.paid(t, "A-1", "tok_success").Attempt
	r.tell(t, moved{webhooks.KindChargeback, "", 700}.event(a), moved{webhooks.KindChargeback, "one", 500}.event(a), moved{webhooks.KindReversed, "", 300}.event(a))
	require.Empty(t, r.verify(t))
	movement := func(number, set string) string {
		return "UPDATE money_movements SET " + set + " WHERE number = " + number
	}
	for name, c := range map[string]struct{ do, undo, check string }{
		"an amount of the attempt": {"UPDATE payment_attempts SET amount_disputed = 1200", "UPDATE payment_attempts SET amount_disputed = 700", "amounts_are_sums"},
		"an amount undone":         {"UPDATE payment_attempts SET amount_reversed = 0", "UPDATE payment_attempts SET amount_reversed = 300", "amounts_are_sums"},
		"a movement's amount":      {movement("2", "amount = 400"), movement("2", "amount = 500"), "amounts_are_sums"},
		"its version":              {movement("2", "amount = 400"), movement("2", "amount = 500"), "log_replays"},
		"a movement's kind":        {movement("4", "kind = 'chargeback'"), movement("4", "kind = 'capture_reversal'"), "amounts_are_sums"},
		"a gap":                    {movement("4", "number = 5"), movement("5", "number = 4"), "movements_without_gaps"},
		"the count":                {"UPDATE payment_attempts SET movements = 3", "UPDATE payment_attempts SET movements = 4", "movements_are_there"},
		"a total below nothing":    {movement("3", "amount = -800"), movement("3", "amount = -500"), "totals_not_negative"},
		"an event lost":            {movement("2", "cause_id = 'x' || cause_id"), movement("2", "cause_id = substr(cause_id, 2)"), "event_is_stored"},
	} {
		r.corrupt(t, c.do)
		var checks []string
		for _, d := range r.verify(t) {
			checks = append(checks, d.Check)
		}
		require.Contains(t, checks, c.check, name)
		r.corrupt(t, c.undo)
		require.Empty(t, r.verify(t), "%s: undone", name)
	}
}
