package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
)

// ErrPrivateAddress is returned for an address that is not public, where the endpoint does not allow such.
var ErrPrivateAddress = errors.New("the address is not public; allow_private permits it")

// special are the networks that are not reachable from everywhere, beside those that package netip names
// (https://www.iana.org/assignments/iana-ipv4-special-registry, iana-ipv6-special-registry), and those that
// embed an IPv4 address: 6to4 and Teredo.
var special = prefixes( //nolint:gochecknoglobals // a table
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

var (
	// unicast are the IPv6 addresses that IANA gives out; the rest is local, reserved or a translation.
	unicast = netip.MustParsePrefix("2000::/3") //nolint:gochecknoglobals // a constant
	// nat64 embeds an IPv4 address in the last four bytes (RFC 6052).
	nat64 = netip.MustParsePrefix("64:ff9b::/96") //nolint:gochecknoglobals // a constant
)

func prefixes(list ...string) (all []netip.Prefix) {
	for _, text := range list {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// IsPublic reports whether an address can be that of a stranger.
func IsPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) {
		embedded := a.As16()
		return IsPublic(netip.AddrFrom4([4]byte(embedded[12:])))
	}
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Is6() && !unicast.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// refusePrivate is called by the dialer with the address that it is about to connect to, after its name was resolved. It
// returns ErrPrivateAddress.
func refusePrivate(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPrivateAddress, err)
	}
	if !IsPublic(to.Addr()) {
		return ErrPrivateAddress
	}
	return nil
}
