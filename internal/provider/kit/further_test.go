package kit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

func TestFurther(t *testing.T) {
	t.Parallel()
	order := []fsm.Event{fsm.EventFailed, fsm.EventSoftFailed, fsm.EventActionRequired, fsm.EventProcessing, fsm.EventAuthorized, fsm.EventSucceeded}
	for i, less := range order {
		a := gateway.Outcome{ProviderPaymentID: "a", Event: less}
		require.Equal(t, a, kit.Further(gateway.Outcome{}, a))
		require.Equal(t, a, kit.Further(a, gateway.Outcome{ProviderPaymentID: "b", Event: less}))
		for _, more := range order[i+1:] {
			b := gateway.Outcome{ProviderPaymentID: "b", Event: more}
			require.Equal(t, b, kit.Further(a, b))
			require.Equal(t, b, kit.Further(b, a))
		}
	}
}
