package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// returning keeps the addresses that charges return to.
type returning struct {
	gateway.Provider

	to *[]string
}

func (p returning) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	*p.to = append(*p.to, c.ReturnURL)
	return p.Provider.Charge(ctx, c)
}

func payOf(order payment.OrderID, account, address string) commands.Pay {
	return commands.Pay{OrderID: order, Account: account, Details: gateway.Details{Token: "tok_success", ReturnURL: address}, Capture: payment.CaptureAutomatic}
}

// TestReturnToAnApp: an app's address is passed on if the configuration lists its scheme and the provider takes such an address. Otherwise
// the pay is refused before the provider is called.
func TestReturnToAnApp(t *testing.T) {
	t.Parallel()
	var to []string
	r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider { return returning{p, &to} }, change: func(o *options) {
		o.ReturnSchemes = []string{"myshop", "com.example.shop"}
		web := o.Accounts["other"]
		web.WebReturns = true
		o.Accounts["other"] = web
	}})
	r.order(t, "A-1")
	pay := func(account, address string) error {
		_, err := r.Pay(t.Context(), shop, request("pay/A-1", "first-key", account+address), payOf("A-1", account, address))
		return err
	}
	for _, c := range []struct{ account, address string }{
		{"sandbox", "yourshop://paid"},
		{"sandbox", "myshopp://paid"},
		{"sandbox", "javascript:alert(1)"},
		{"sandbox", "file:///etc/passwd"},
		{"sandbox", "paid"},
		{"other", "myshop://paid"},
		{"other", "MYSHOP://paid"},
		{"other", "yourshop://paid"},
	} {
		var invalid *payment.ValidationError
		require.ErrorAs(t, pay(c.account, c.address), &invalid, c.address)
		require.Equal(t, "return_url", invalid.Fields[0].Field)
	}
	require.Empty(t, to, "no provider is called")
	require.Empty(t, rows[string](t, r, "SELECT attempt_id::text FROM payment_attempts"))
	require.NoError(t, pay("sandbox", "myshop://paid"))
	require.Equal(t, []string{"myshop://paid"}, to)
	r.order(t, "A-2")
	_, err := r.Pay(t.Context(), shop, request("pay/A-2", "second-key", ""), payOf("A-2", "other", "https://shop.example/paid"))
	require.NoError(t, err)
	require.Equal(t, "https://shop.example/paid", to[1])
}
