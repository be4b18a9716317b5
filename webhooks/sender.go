package webhooks

import (
	"fmt"
	"net/netip"
	"slices"
)

// Senders are the networks from which an account's deliveries are taken. An empty list allows any network. A receiver can
// check the sender for each kind, before any other work on the delivery.
type Senders []netip.Prefix

// Check returns an error that wraps ErrSender when addr, the real peer and not a proxy of the receiver's, is in none of
// the networks. An IPv4 address that was mapped into IPv6 (::ffff:192.0.2.1) is the same sender, and a network of such
// addresses the same network.
func (s Senders) Check(addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	if len(s) == 0 || slices.ContainsFunc(s, func(p netip.Prefix) bool { return unmapped(p).Contains(addr) }) {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrSender, addr)
}

// mappedBits is how long the prefix of all mapped addresses is, ::ffff:0:0/96.
const mappedBits = 96

// unmapped turns a prefix of mapped addresses into the one of IPv4 that it means, which is the only form that an
// unmapped address can be in.
func unmapped(prefix netip.Prefix) netip.Prefix {
	if !prefix.Addr().Is4In6() || prefix.Bits() < mappedBits {
		return prefix
	}
	return netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-mappedBits)
}
