package gateway_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// A decline that names a payment, or the page that was made for it, is how that stands; without a name it is of the call.
func TestOutcome_RefusesCall(t *testing.T) {
	t.Parallel()
	for _, news := range []fsm.Event{fsm.EventFailed, fsm.EventSoftFailed} {
		require.True(t, gateway.Outcome{Event: news}.RefusesCall())
		require.False(t, gateway.Outcome{Event: news, ProviderPaymentID: "pay_1"}.RefusesCall())
		require.False(t, gateway.Outcome{Event: news, Container: "page_1"}.RefusesCall())
		require.True(t, gateway.Outcome{Event: news, Container: "page_1", Refused: true}.RefusesCall())
	}
}
