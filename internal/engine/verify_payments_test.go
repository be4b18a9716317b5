package engine_test

import (
	"fmt"
	"testing"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// So is every way in which an attempt and its payments can part.
func verifyCorruptPayments(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, provider: newTill(nil).on})
	twice := r.begun(t, "twice", price, payment.CaptureAutomatic)
	r.tell(t, under(webhooks.KindSucceeded, twice, "pi_a"), under(webhooks.KindSucceeded, twice, "pi_b"))
	held := r.begun(t, "held", price, payment.CaptureManual)
	r.tell(t, under(webhooks.KindAuthorized, held, "pi_held"))
	// to gives one payment of an attempt another member.
	to := func(order string, number int, member, value string) string {
		return fmt.Sprintf("UPDATE payment_attempts SET payments = jsonb_set(payments::jsonb, '{p,%d,%s}', '%s')::text::json WHERE order_id = '%s'", number, member, value, order)
	}
	const second = "UPDATE discrepancies SET about = '%s' WHERE about = '%s'"
	r.eachIsReported(t, map[string]corruption{
		"a payment's amount":        {to("twice", 1, "ca", "5"), to("twice", 1, "ca", "1999"), "payment_has_its_movements"},
		"the sum of all":            {to("twice", 1, "ca", "5"), to("twice", 1, "ca", "1999"), "payments_make_the_attempt"},
		"a hold":                    {to("held", 0, "au", "5"), to("held", 0, "au", "1999"), "payment_has_its_movements"},
		"a payment's id":            {to("twice", 1, "id", `"pi_c"`), to("twice", 1, "id", `"pi_b"`), "movement_has_payment"},
		"a movement's payment":      {"UPDATE money_movements SET payment = '' WHERE payment = 'pi_b'", "UPDATE money_movements SET payment = 'pi_b' WHERE order_id = 'twice' AND number = 2", "payment_has_its_movements"},
		"how a payment stands":      {to("held", 0, "st", `"processing"`), to("held", 0, "st", `"authorized"`), "attempt_stands_as_its_payments"},
		"a second payment unheeded": {fmt.Sprintf(second, "x", payment.AboutSecondPayment), fmt.Sprintf(second, payment.AboutSecondPayment, "x"), "second_payment_is_seen"},
	})
}
