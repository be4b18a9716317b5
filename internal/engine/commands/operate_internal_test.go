package commands

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
)

// A confirm whose process died goes on with its own capture, and never with another confirm's of the same amount.
func TestAConfirmGoesOnWithItsOwnCapture(t *testing.T) {
	t.Parallel()
	op := operation{kind: payment.OperationCapture, req: idempotency.Request{Key: "first-key"}}
	for origin, own := range map[string]bool{"first-key": true, "second-key": false} {
		a := payment.Attempt{Operations: []payment.Operation{{Kind: payment.OperationCapture, Amount: 500, OriginID: origin, State: fsm.OperationUnknown}}}
		took, err := op.open(&a, 500, idempotency.Record{TakenOver: true})
		if own {
			require.NoError(t, err)
			require.Equal(t, &a.Operations[0], took)
			continue
		}
		require.ErrorIs(t, err, payment.ErrBusy)
	}
}

// The message has how many members an order would get, and how many it may have.
func TestTooManyMetadataSayHowMany(t *testing.T) {
	t.Parallel()
	all := map[string]string{}
	for i := range maxMetadata + 3 {
		all[string(rune('a'+i))] = "x"
	}
	_, err := AmendOrder{Metadata: all}.terms(payment.Order{})
	require.ErrorContains(t, err, "would give the order 53 members; at most 50 are allowed")
}
