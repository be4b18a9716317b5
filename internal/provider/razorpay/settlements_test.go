package razorpay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func settlement(id, status string, amount any, second int) object {
	return object{"id": id, "entity": "settlement", "amount": amount, "status": status, "fees": 0, "tax": 0, "utr": "1568176960vxp0rj", "created_at": at(second)}
}

func payouts(t *testing.T, b *books) (all []payment.PayoutReport, err error) {
	t.Helper()
	c, _ := serve(t, keeping(t, b))
	err = c.Payouts(t.Context(), gateway.Span{From: began, To: began.Add(time.Hour)}, func(r payment.PayoutReport) error {
		all = append(all, r)
		return nil
	})
	return all, err
}

// Settlements of the span are payouts, page by page, as they are now. A failed one may still be paid. One that can't be read hides no other.
func TestPayouts(t *testing.T) {
	t.Parallel()
	got, err := payouts(t, &books{payments: []object{paid("pay_1", "captured", 1, 0, nil)}, settlements: []object{
		settlement("setl_0", "processed", 1, -1), settlement("setl_1", "processed", 9973635, 1), settlement("setl_2", "created", 50000, 2),
		settlement("setl_3", "lost", 1, 3), settlement("setl_4", "failed", 700, 4), settlement("setl_5", "processed", nil, 5), settlement("setl_6", "processed", 1.5, 6),
	}})
	require.ErrorIs(t, err, gateway.ErrUnreadable)
	require.ErrorContains(t, err, "3 items")
	listed := func(id string, status payment.PayoutStatus, minor int64) payment.PayoutReport {
		return payment.PayoutReport{ProviderID: id, Status: status, Money: new(rupees(minor)), ArrivesOn: began}
	}
	require.Equal(t, []payment.PayoutReport{
		listed("setl_1", payment.PayoutPaid, 9973635), listed("setl_2", payment.PayoutPending, 50000), listed("setl_4", payment.PayoutPending, 700),
	}, got)
}

// A settlement does not state its currency. It is that of the balance, which payments show. Where they do not, nothing is guessed.
func TestPayoutsAreInTheCurrencyOfTheBalance(t *testing.T) {
	t.Parallel()
	dollars := object{"currency": "USD"}
	converted := object{"currency": "USD", "base_amount": 83000, "base_currency": "INR"}
	for name, tt := range map[string]struct {
		payments []object
		want     payment.Currency
	}{
		"of_its_payments": {[]object{paid("pay_1", "captured", 1, 0, dollars), paid("pay_2", "refunded", 1, 0, dollars)}, "USD"},
		"converted":       {[]object{paid("pay_1", "captured", 1, 0, converted), paid("pay_2", "captured", 1, 1, nil)}, "INR"},
		"not_captured":    {[]object{paid("pay_1", "captured", 1, 0, nil), paid("pay_2", "failed", 1, 1, dollars)}, "INR"},
		"several":         {[]object{paid("pay_1", "captured", 1, 0, nil), paid("pay_2", "captured", 1, 1, dollars)}, ""},
		"none":            {[]object{paid("pay_1", "failed", 1, 0, nil)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := payouts(t, &books{payments: tt.payments, settlements: []object{settlement("setl_1", "processed", 5, 1)}})
			require.NoError(t, err)
			if tt.want == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Equal(t, &payment.Money{Minor: 5, Currency: tt.want}, got[0].Money)
		})
	}
}
