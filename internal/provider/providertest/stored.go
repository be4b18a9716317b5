package providertest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Stored describes the payment methods that the provider stores for its customers.
type Stored struct {
	// Token is a stored payment method of the customer Owner in the fake. It is empty if the adapter charges no stored
	// methods. Save creates it if the fake has no stored method at the beginning.
	Token, Owner string
	Save         func(t *testing.T, p gateway.Provider) string
	// OwnerOf returns the owner of another token; nil: Owner.
	OwnerOf func(token string) string
	// Forms are further tokens that have the form of stored payment methods.
	Forms []string
	// Bound is set if only the charge checks the owner of a method. The charge names the customer, and the provider
	// refuses another customer's method.
	Bound bool
}

// stranger is a customer who has stored nothing.
const stranger = "stranger-1"

// Charge marks a token as stored if it has the form of a stored payment method.
func (r *rig) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	if r.TokenKind(c.Token) == gateway.TokenStored && !c.Stored {
		c.Stored = true
		if c.Customer.Reference = r.Stored.Owner; r.Stored.OwnerOf != nil {
			c.Customer.Reference = r.Stored.OwnerOf(c.Token)
		}
	}
	o, err := r.Provider.Charge(ctx, c)
	if r.Links && err == nil {
		r.visit(o.NextAction)
	}
	return o, err
}

// instrumentOfAnother tests that customer B can't pay with the stored method of customer A. The adapter refuses it
// before any call that moves money. If only the charge checks the owner, the provider refuses it.
func instrumentOfAnother(r *rig) {
	token := r.Stored.Token
	if r.Stored.Save != nil {
		token = r.Stored.Save(r.T, r.Provider)
	}
	if token == "" {
		require.ErrorIs(r, r.CheckOwner(r.Context(), r.Stored.Forms[0], "u-1"), gateway.ErrUnsupported)
		require.Empty(r, r.requests())
		return
	}
	before := len(r.requests())
	require.NoError(r, r.CheckOwner(r.Context(), token, r.Stored.Owner))
	err := r.CheckOwner(r.Context(), token, stranger)
	nobody := r.CheckOwner(r.Context(), token[:len(token)-2]+"zz", r.Stored.Owner)
	for _, sent := range r.requests()[before:] {
		require.False(r, r.command(sent), "%s %s moves money", sent.Method, sent.Path)
	}
	c := charge(token)
	c.Stored, c.Customer.Reference = true, stranger
	if !r.Stored.Bound {
		require.ErrorIs(r, err, payment.ErrMethodNotYours)
		require.True(r, errors.Is(nobody, payment.ErrMethodNotYours) || errors.Is(nobody, gateway.ErrNoSuchPayment), "%v", nobody)
	} else {
		require.NoError(r, err)
		o, err := r.Provider.Charge(r.Context(), c)
		require.NoError(r, err)
		require.Equal(r, fsm.EventFailed, o.Event)
	}
	c = charge(token)
	c.Stored, c.Customer.Reference = true, r.Stored.Owner
	o, err := r.Provider.Charge(r.Context(), c)
	require.NoError(r, err)
	require.Contains(r, []fsm.Event{fsm.EventSucceeded, fsm.EventAuthorized, fsm.EventProcessing}, o.Event)
}

// storedWithoutSaying tests that the token's form and the Stored mark must agree. If they differ, the adapter sends
// nothing.
func storedWithoutSaying(r *rig) {
	tokens := r.Stored.Forms
	if r.Stored.Token != "" {
		tokens = append(tokens, r.Stored.Token)
	}
	require.NotEmpty(r, tokens)
	for _, token := range tokens {
		kind := r.TokenKind(token)
		require.NotEqual(r, gateway.TokenSingleUse, kind, token)
		if kind == gateway.TokenStored {
			_, err := r.Provider.Charge(r.Context(), charge(token))
			require.ErrorIs(r, err, gateway.ErrUnsupportedRequest, token)
		}
	}
	for _, token := range []string{r.Tokens.Success, r.Tokens.Redirect} {
		if token != "" && r.TokenKind(token) == gateway.TokenSingleUse {
			c := charge(token)
			c.Stored = true
			_, err := r.Provider.Charge(r.Context(), c)
			require.ErrorIs(r, err, gateway.ErrUnsupportedRequest, token)
		}
	}
	require.Empty(r, r.requests())
}
