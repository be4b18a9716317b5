package provider_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

// bearers are, by kind, the members of a refund that choose the accounts that bear it.
var bearers = map[string][]string{
	"adyen": {"splits"}, "checkout": {"amount_allocations"}, "mollie": {"reverseRouting", "routingReversals"}, "stripe": {"reverse_transfer"},
}

// A refund of a payment that was shared is refused by each kind that shares money, until the refund chooses the accounts that bear it.
// A capture shares no money that the pay did not share.
func TestARefundOfASharedPaymentHasBearers(t *testing.T) {
	t.Parallel()
	for kind, a := range provider.Adapters() {
		f := a.Further
		if want := bearers[kind]; len(want) == 0 {
			require.Empty(t, f.Split.Pay, kind)
			for _, all := range bearers {
				for _, name := range all {
					require.NotContains(t, f.Refund, name, kind)
				}
			}
			require.NoError(t, f.AcceptsRefund(nil, true), kind)
			continue
		}
		require.ElementsMatch(t, bearers[kind], f.Split.Refund, kind)
		require.NotEmpty(t, f.Split.Pay, kind)
		refusal := func(err error) string {
			invalid, ok := errors.AsType[*payment.ValidationError](err)
			require.True(t, ok, "%s: %v", kind, err)
			return invalid.Fields[0].Field + " " + invalid.Fields[0].Message
		}
		require.NoError(t, f.AcceptsRefund(nil, false), kind)
		require.Contains(t, refusal(f.AcceptsRefund(nil, true)), f.Split.Advice, kind)
		for name := range f.Refund {
			err := f.AcceptsRefund(gateway.Data{name: providertest.FurtherSamples[name]}, true)
			if slices.Contains(f.Split.Refund, name) {
				require.NoError(t, err, "%s: %s", kind, name)
			} else {
				require.Contains(t, refusal(err), f.Split.Advice, "%s: %s", kind, name)
			}
		}
		for _, name := range f.Split.Pay {
			require.Contains(t, a.ProviderData, name, kind)
			if _, ok := f.Capture[name]; !ok {
				continue
			}
			require.NoError(t, f.AcceptsCapture(gateway.Data{name: providertest.FurtherSamples[name]}, true), "%s: %s", kind, name)
			require.Contains(t, refusal(f.AcceptsCapture(gateway.Data{name: providertest.FurtherSamples[name]}, false)), "provider_data."+name, kind)
		}
	}
}
