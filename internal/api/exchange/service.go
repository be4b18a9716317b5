package exchange

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/access"
	"github.com/paylatch/paylatch/internal/api/problem"
)

// Service is what all exchanges share. Commands may be nil where no operation takes a key.
type Service struct {
	Problems *problem.Catalogue
	Access   access.Log
	// Commands are the operations that take a key, by method and route.
	Commands map[string]string
	// TrustedProxies are the peers whose X-Forwarded-For counts.
	TrustedProxies []netip.Prefix
	Now            func() time.Time
}

// NewEcho makes a router without routes. Each request that it takes is an exchange; its errors become responses, a panic
// too, and it is logged.
func (s *Service) NewEcho() *echo.Echo {
	e := echo.New()
	e.HTTPErrorHandler = s.fail
	e.IPExtractor = realIP(s.TrustedProxies)
	e.Use(s.identify, s.logged, recovered)
	return e
}

// identify begins the exchange.
func (s *Service) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		x := &Exchange{Record: access.Begin(c.Response().Header(), r, s.Now()), service: s, context: c, Head: isHead(r.Context())}
		x.Peer = c.RealIP()
		// A list may be sent as several headers; from here on each is one.
		for _, name := range []string{"If-None-Match", "Prefer"} {
			if list := r.Header.Values(name); len(list) > 1 {
				r.Header.Set(name, strings.Join(list, ", "))
			}
		}
		c.SetRequest(r.WithContext(access.With(context.WithValue(x.traced(c.Path()), key{}, x), x.Record)))
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
func (s *Service) logged(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := next(c); err != nil {
			c.Error(err)
		}
		if x := In(c); !x.waits {
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

// realIP uses X-Forwarded-For as far as it comes from trusted proxies.
func realIP(trusted []netip.Prefix) echo.IPExtractor {
	if len(trusted) == 0 {
		return echo.ExtractIPDirect()
	}
	options := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, p := range trusted {
		p = p.Masked()
		options = append(options, echo.TrustIPRange(&net.IPNet{
			IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen()),
		}))
	}
	return echo.ExtractIPFromXFFHeader(options...)
}
