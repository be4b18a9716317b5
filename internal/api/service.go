package api

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/render"
)

// ExchangeOptions has the settings of all exchanges. Commands may be nil if no operation takes a key.
type ExchangeOptions struct {
	Problems *render.Catalogue
	Access   AccessLog
	// Commands are the operations that take a key, by method and route.
	Commands map[string]string
	// TrustedProxies are the peers whose X-Forwarded-For counts.
	TrustedProxies []netip.Prefix
	Now            func() time.Time
}

// NewEcho makes a router without routes. Each request that it takes is an exchange; its errors become responses, a panic
// too, and it is logged.
func (s *ExchangeOptions) NewEcho() *echo.Echo {
	e := echo.New()
	e.HTTPErrorHandler = s.fail
	e.IPExtractor = realIP(s.TrustedProxies)
	e.Use(s.identify, s.logged, recovered)
	return e
}

// identify begins the exchange.
func (s *ExchangeOptions) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		x := &Exchange{AccessRecord: BeginAccessRecord(c.Response().Header(), r, s.Now()), service: s, context: c, Head: isHead(r.Context())}
		x.Peer = c.RealIP()
		// A list may be sent as several headers; from here on each is one.
		for _, name := range []string{"If-None-Match", "Prefer"} {
			if list := r.Header.Values(name); len(list) > 1 {
				r.Header.Set(name, strings.Join(list, ", "))
			}
		}
		c.SetRequest(r.WithContext(WithAccessRecord(context.WithValue(x.traced(c.Path()), exchangeKey{}, x), x.AccessRecord)))
		return next(c)
	}
}

// panicked is a panic, for the log only.
type panicked struct {
	value any
	stack []byte
}

// Error implements error.
func (p *panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

// logged writes the request's line, unless its wait will.
func (s *ExchangeOptions) logged(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := next(c); err != nil {
			c.Error(err)
		}
		if x := ExchangeIn(c); !x.waits {
			s.ended(x, c.Path(), c.Response().Status)
		}
		return nil
	}
}

func recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			switch value := recover(); value {
			case nil:
			case http.ErrAbortHandler:
				panic(value)
			default:
				err = &panicked{value, debug.Stack()}
			}
		}()
		return next(c)
	}
}

// realIP returns the peer or, if the peer is a trusted proxy, the last address in X-Forwarded-For that is not a trusted proxy's.
func realIP(trusted []netip.Prefix) echo.IPExtractor {
	direct := echo.ExtractIPDirect()
	trusts := func(a netip.Addr) bool {
		return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(a) || p.Contains(netip.AddrFrom16(a.As16())) })
	}
	return func(r *http.Request) string {
		peer := direct(r)
		last, ok := forwardedAddress(peer)
		if !ok {
			return peer
		}
		if !trusts(last) {
			return last.String()
		}
		for rest := strings.Join(r.Header.Values(echo.HeaderXForwardedFor), ","); rest != "" && trusts(last); {
			comma := strings.LastIndexByte(rest, ',')
			hop := rest[comma+1:]
			if hop == "" {
				break
			}
			address, readable := forwardedAddress(hop)
			if !readable { // so the origin of the request is open
				return peer
			}
			last, rest = address, rest[:max(comma, 0)]
		}
		return last.String()
	}
}

// forwardedAddress reads an address in the notations of proxies: with or without a port, version 6 with or without brackets, in
// any zone.
func forwardedAddress(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if err != nil {
		with, notBoth := netip.ParseAddrPort(text)
		address, err = with.Addr(), notBoth
	}
	return address.Unmap().WithZone(""), err == nil
}
