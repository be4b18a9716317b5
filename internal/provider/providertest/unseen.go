package providertest

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// unseen tests for how long a charge can be paid if its response is lost. Only a charge that answers with a step of the
// customer, and takes no money before, may have an end. Each such charge has an end, except for those in Charges.
func unseen(r *rig) {
	tokens := append([]string{r.Tokens.Success, r.Tokens.Decline, r.Tokens.Redirect, r.Step.Token, r.Step.Again, r.Stored.Token}, r.Stored.Forms...)
	slices.Sort(tokens)
	for _, token := range slices.Compact(tokens) {
		if token == "" {
			continue
		}
		c := charge(token)
		c.Stored = r.TokenKind(token) == gateway.TokenStored
		payable, ends := r.Unseen(c.Details)
		require.GreaterOrEqual(r, payable, time.Duration(0), token)
		if c.Stored {
			require.False(r, ends, "%s is charged without the customer", token)
			continue
		}
		o, err := r.Charge(r.Context(), c)
		require.NoError(r, err, token)
		waits := o.Event == fsm.EventActionRequired
		require.Equal(r, waits && !slices.Contains(r.Charges, token), ends, "%s: %s", token, o.Event)
		if ends {
			require.NotNil(r, o.NextAction, token)
			require.Nil(r, o.Money, token)
		}
	}
}
