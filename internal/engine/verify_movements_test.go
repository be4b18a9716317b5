package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// Every way in which an attempt and its movements can part is seen.
func verifyCorruptMovements(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	a := r.paid(t, "A-1", "tok_success").Attempt
	r.tell(t, moved{webhooks.KindChargeback, "", 700}.event(a), moved{webhooks.KindChargeback, "one", 500}.event(a), moved{webhooks.KindReversed, "", 300}.event(a))
	movement := func(number, set string) string {
		return "UPDATE money_movements SET " + set + " WHERE number = " + number
	}
	r.eachIsReported(t, map[string]corruption{
		"an amount of the attempt": {"UPDATE payment_attempts SET amount_disputed = 1200", "UPDATE payment_attempts SET amount_disputed = 700", "row_follows_log"},
		"an amount undone":         {"UPDATE payment_attempts SET amount_captured = 1999", "UPDATE payment_attempts SET amount_captured = 1699", "row_follows_log"},
		"a movement's amount":      {movement("3", "amount = 400"), movement("3", "amount = 500"), "log_sums"},
		"a movement's kind":        {movement("5", "kind = 'chargeback'"), movement("5", "kind = 'capture_reversal'"), "log_sums"},
		"a movement's currency":    {movement("5", "currency = 'USD'"), movement("5", "currency = 'EUR'"), "log_sums"},
		"a gap":                    {movement("5", "number = 6"), movement("6", "number = 5"), "movements_without_gaps"},
		"the count":                {"UPDATE payment_attempts SET movements = 4", "UPDATE payment_attempts SET movements = 5", "movements_are_there"},
		"a total below nothing":    {movement("4", "amount = -800"), movement("4", "amount = -500"), "totals_are_positive"},
		"an event lost":            {movement("3", "cause_id = 'x' || cause_id"), movement("3", "cause_id = substr(cause_id, 2)"), "event_is_stored"},
	})
}

// The log shows which movements each version has, also of versions that a refund makes.
func verifyChargebacksAndRefunds(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	a := r.paid(t, "A-1", "tok_success").Attempt
	back := event(webhooks.KindRefundSucceeded, a.ID.String())
	back.RefundID, back.Money = "re_1", &webhooks.Money{Minor: 300, Currency: "EUR"}
	r.tell(t, moved{webhooks.KindChargeback, "one", 500}.event(a), back, moved{webhooks.KindChargeback, "two", 500}.event(a))
	require.EqualValues(t, price-1300, r.attempt(t, a.ID).Held())
	require.Empty(t, r.verify(t))
}
