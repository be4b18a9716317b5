package throttle

import "net/netip"

// Network names the network that a sender's address is in, as one that a single
// owner mostly has: an IPv4 /24, an IPv6 /64.
func Network(a netip.Addr) string { return within(a, 24) }

// Peer names a peer: an IPv4 address, or an IPv6 /64, of which one machine may have
// every address.
func Peer(a netip.Addr) string { return within(a, 32) }

func within(a netip.Addr, bits int) string {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // of no address all are one network
	return p.String()
}
