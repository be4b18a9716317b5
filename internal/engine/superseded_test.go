package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// TestSupersededByARefusal: a pay or a registration that is refused for its input leaves the attempt that it supersedes as it was.
// The account without a gateway ends an attempt at once, the other account cancels the payment at the provider.
func TestSupersededByARefusal(t *testing.T) {
	t.Parallel()
	inputs := map[string]struct {
		pay      func(*commands.Pay)
		register func(*commands.External)
	}{
		"amount":     {func(p *commands.Pay) { p.Amount = new(int64(1)) }, func(e *commands.External) { e.Amount = new(int64(1)) }},
		"currency":   {func(p *commands.Pay) { p.Currency = new(payment.Currency("JPY")) }, func(e *commands.External) { e.Currency = new(payment.Currency("JPY")) }},
		"account":    {func(p *commands.Pay) { p.Account = "none" }, func(e *commands.External) { e.Account = "none" }},
		"lines":      {pay: func(p *commands.Pay) { p.Lines = []gateway.Line{{Amount: 1}} }},
		"references": {register: func(e *commands.External) { e.References = []string{"cart-1"} }},
		"provider_payment_id": {
			register: func(e *commands.External) { e.ProviderPaymentID = "pi_1" },
		},
	}
	r := newEnv(t, setup{silent: true, change: func(o *options) { o.Accounts["deaf"] = gateway.Account{} }})
	other := r.register(t, commands.External{Account: "deaf", ProviderPaymentID: "pi_1", References: []string{"cart-1"}}).ID
	for _, account := range []string{"deaf", "sandbox"} {
		order := payment.OrderID("of " + account)
		r.order(t, order)
		id := r.register(t, commands.External{OrderID: order, Account: account}).ID
		was := r.attempt(t, id)
		refused := func(field string, err error) {
			t.Helper()
			var invalid *payment.ValidationError
			require.ErrorAs(t, err, &invalid, field)
			require.Equal(t, field, invalid.Fields[0].Field)
			now := r.attempt(t, id)
			require.Equal(t, was.Version, now.Version, "%s, %s", account, field)
			require.Equal(t, was.opsView, now.opsView, "%s, %s", account, field)
		}
		pay := func(change func(*commands.Pay)) (commands.Reply, error) {
			cmd := commands.Pay{OrderID: order, Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureAutomatic, Supersedes: &id}
			change(&cmd)
			return r.Pay(t.Context(), shop, request("pay "+string(order), "first-key", ""), cmd)
		}
		register := func(change func(*commands.External)) error {
			cmd := commands.External{OrderID: order, Account: "deaf", Capture: payment.CaptureAutomatic, Supersedes: &id}
			change(&cmd)
			_, err := r.Register(t.Context(), shop, request("attempts "+string(order), "other-key", ""), cmd)
			return err
		}
		for field, with := range inputs {
			if with.pay != nil {
				_, err := pay(with.pay)
				refused(field, err)
			}
			if with.register != nil {
				refused(field, register(with.register))
			}
		}
		_, err := pay(func(p *commands.Pay) { p.Supersedes = &other })
		refused("supersedes", err)
		refused("supersedes", register(func(e *commands.External) { e.Supersedes = &other }))

		reply, err := pay(func(*commands.Pay) {})
		require.NoError(t, err)
		require.True(t, reply.Succeeded())
		require.True(t, r.attempt(t, id).Failed())
		_, err = r.Pay(t.Context(), shop, request("pay "+string(order), "last-key", ""), commands.Pay{OrderID: order, Supersedes: &reply.ID})
		require.Error(t, err, "paylatch began it")
	}
	require.Empty(t, r.verify(t))
}
