package webhooks

import (
	"fmt"
	"net/netip"
)

// senders are the addresses from which a provider sends.
type senders []netip.Prefix

// sendersOf returns the configured addresses, or else the documented ones.
func sendersOf(c Config, documented ...string) senders {
	if len(c.AllowedIPs) == 0 {
		list := make(senders, len(documented))
		for i, text := range documented {
			list[i] = netip.MustParsePrefix(text)
		}
		return list
	}
	list := make(senders, len(c.AllowedIPs))
	for i, prefix := range c.AllowedIPs {
		list[i] = unmapped(prefix)
	}
	return list
}

// mappedBits is how long the prefix of all mapped addresses is, ::ffff:0:0/96.
const mappedBits = 96

// unmapped turns a prefix of mapped addresses into the one of IPv4 that it means,
// which is the only form that an unmapped address can be in.
func unmapped(prefix netip.Prefix) netip.Prefix {
	if !prefix.Addr().Is4In6() || prefix.Bits() < mappedBits {
		return prefix
	}
	return netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-mappedBits)
}

// checkAny is check for providers that document no addresses, or that sign besides:
// where none are configured anybody may send.
func (s senders) checkAny(addr netip.Addr) error {
	if len(s) == 0 {
		return nil
	}
	return s.check(addr)
}

// check returns an error that wraps ErrSender when addr is none of them. An IPv4
// address that was mapped into IPv6 (::ffff:192.0.2.1) is the same sender.
func (s senders) check(addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	for _, prefix := range s {
		if prefix.Contains(addr) {
			return nil
		}
	}
	return fmt.Errorf("%w: %s", ErrSender, addr)
}
