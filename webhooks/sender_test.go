package webhooks_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

func TestSenders(t *testing.T) {
	t.Parallel()
	shops := webhooks.Senders{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("::ffff:198.51.100.7/128"), netip.MustParsePrefix("2001:db8::/32")}
	for address, want := range map[string]error{
		"192.0.2.255": nil, "::ffff:192.0.2.1": nil, "198.51.100.7": nil, "::ffff:198.51.100.7": nil, "2001:db8::1%eth0": nil,
		"192.0.3.0": webhooks.ErrSender, "198.51.100.8": webhooks.ErrSender, "2001:db9::1": webhooks.ErrSender, "::1": webhooks.ErrSender,
	} {
		addr := netip.MustParseAddr(address)
		require.ErrorIs(t, shops.Check(addr), want, address)
		require.NoError(t, webhooks.Senders(nil).Check(addr))
	}
	require.ErrorIs(t, shops.Check(netip.Addr{}), webhooks.ErrSender)
}
