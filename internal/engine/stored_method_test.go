package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// A customer's stored method pays for no other customer, by any token and with any parameters. If its owner can't be
// looked up, no payment is begun. A refusal leaves the key free. The adapters' own part is in their conformance.
func payStoredMethodOfAnotherCustomer(t *testing.T) {
	t.Parallel()
	var p *flaky
	r := newEnv(t, setup{silent: true, provider: func(inner gateway.Provider) gateway.Provider {
		p = &flaky{Provider: inner}
		return p
	}})
	saved := r.paid(t, "A-1", "tok_save")
	require.Equal(t, succeeded, standingOf(saved.Attempt))
	card := r.attempt(t, saved.ID).Saved
	require.NotNil(t, card)
	require.Equal(t, []string{"card", "Visa •••• 4242", "2034-12"}, []string{card.Type, card.Display, card.Expires})

	r.order(t, "A-2")
	pay := func(who authz.Actor, stored bool, token, customer string) (commands.Reply, error) {
		return r.Pay(t.Context(), who, request("pay A-2", "second-key", token), commands.Pay{
			OrderID: "A-2", Capture: payment.CaptureAutomatic,
			Details: gateway.Details{Token: token, Stored: stored, Customer: gateway.Customer{Reference: customer}},
		})
	}
	begun := p.charges.Load()
	for name, c := range map[string]struct {
		who             authz.Actor
		stored          bool
		token, customer string
		want            error
	}{
		"not said to be stored":            {shop, false, card.Token, "", payment.ErrStoredMethod},
		"nor by a customer":                {customer, false, card.Token, "", payment.ErrStoredMethod},
		"by a customer":                    {customer, true, card.Token, "", payment.ErrForbidden},
		"by a customer for another":        {customer, false, "tok_success", "u2", payment.ErrForbidden},
		"of another customer":              {shop, true, card.Token, "u2", payment.ErrMethodNotYours},
		"of nobody":                        {shop, true, "card_00000000000000000000000000000000", "", payment.ErrMethodNotYours},
		"single-use and said to be stored": {shop, true, "tok_success", "", new(payment.ValidationError)},
	} {
		_, err := pay(c.who, c.stored, c.token, c.customer)
		if invalid, ok := c.want.(*payment.ValidationError); ok { //nolint:errorlint // it is no error that came
			require.ErrorAs(t, err, &invalid, name)
			continue
		}
		require.ErrorIs(t, err, c.want, name)
	}
	p.silent.Store(true)
	_, err := pay(shop, true, card.Token, "")
	require.ErrorIs(t, err, payment.ErrProviderUnavailable)
	require.Equal(t, begun, p.charges.Load(), "nothing is charged before it is known whose it is")
	p.silent.Store(false)

	p.lose.Store(true)
	paid, err := pay(shop, true, card.Token, "")
	require.NoError(t, err)
	require.Equal(t, fsm.OutcomeUnknown, paid.State)
	r.exec(t, "UPDATE operations SET lease_until = NULL WHERE open AND refund_id IS NULL")
	require.Equal(t, succeeded, standingOf(r.recheck(t, paid.ID).Attempt), "what is sent again names the same customer")
	require.Nil(t, r.attempt(t, paid.ID).Saved)
	require.Empty(t, r.verify(t))
}

// flaky counts charges, loses one response, and does not return the owner of a method.
type flaky struct {
	gateway.Provider

	charges      atomic.Int32
	silent, lose atomic.Bool
}

var errLost = errors.New("lost")

func (p *flaky) CheckOwner(ctx context.Context, token, of string) error {
	if p.silent.Load() {
		return errLost
	}
	return p.Provider.CheckOwner(ctx, token, of)
}

func (p *flaky) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	p.charges.Add(1)
	if p.lose.Swap(false) {
		return gateway.Outcome{}, errLost
	}
	return p.Provider.Charge(ctx, c)
}
