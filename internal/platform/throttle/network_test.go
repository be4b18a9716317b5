package throttle_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/throttle"
)

func TestNetworkAndPeer(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][2]string{
		"192.0.2.7":          {"192.0.2.0/24", "192.0.2.7/32"},
		"::ffff:192.0.2.7":   {"192.0.2.0/24", "192.0.2.7/32"},
		"2001:db8:1:2:3::4":  {"2001:db8:1:2::/64", "2001:db8:1:2::/64"},
		"fe80::1%eth0":       {"fe80::/64", "fe80::/64"},
		"2001:db8:1:2::ffff": {"2001:db8:1:2::/64", "2001:db8:1:2::/64"},
	} {
		a := netip.MustParseAddr(address)
		require.Equal(t, want, [2]string{throttle.Network(a), throttle.Peer(a)}, address)
	}
	require.Equal(t, throttle.Peer(netip.Addr{}), throttle.Network(netip.Addr{}), "of no address all are one")
}
