package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (r *report) oneOf(key, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		r.add(key, "must be one of %s%s", strings.Join(allowed, ", "), Suggest(value, allowed))
	}
}

func (r *report) url(key, text string) {
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		r.add(key, "must be an address that begins with https:// or http://")
	}
}

func (r *report) positive(key string, d time.Duration) {
	if d <= 0 {
		r.add(key, "must be longer than 0")
	}
}

func (r *report) natural(key string, n int) {
	if n < 0 {
		r.add(key, "must not be negative")
	}
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == text
}

// isPlain reports whether the address is of plain HTTP.
func isPlain(address string) bool { return strings.HasPrefix(strings.ToLower(address), "http://") }

// isHere reports whether the address is on this machine.
func isHere(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
