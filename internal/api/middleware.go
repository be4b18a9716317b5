package api

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/access"
)

// identify begins the exchange.
func (s *server) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		x := &exchange{Record: access.Begin(c.Response().Header(), r, s.Now()), context: c, head: isHead(r.Context())}
		x.Peer = c.RealIP()
		// A list may be sent as several headers; from here on each is one.
		for _, name := range []string{"If-None-Match", "Prefer"} {
			if list := r.Header.Values(name); len(list) > 1 {
				r.Header.Set(name, strings.Join(list, ", "))
			}
		}
		c.SetRequest(r.WithContext(access.With(context.WithValue(r.Context(), exchangeKey{}, x), x.Record)))
		return next(c)
	}
}

// headAsGet handles HEAD as GET; net/http leaves the body out. A webhook is never received that way. It stands before
// echo, whose router takes the request as it came.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead && !strings.HasPrefix(r.URL.Path, webhookPath) {
			r = r.WithContext(context.WithValue(r.Context(), headKey{}, true))
			r.Method = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

type headKey struct{}

// isHead reports whether a GET came as a HEAD.
func isHead(ctx context.Context) bool { return ctx.Value(headKey{}) != nil }

// panicked is a panic, for the log only.
type panicked struct {
	value any
	stack []byte
}

// Error implements error.
func (p *panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

// logged writes the request's line, unless its wait will.
func (s *server) logged(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := next(c); err != nil {
			c.Error(err)
		}
		if x := exchangeIn(c); !x.waits {
			s.access.Write(x.Record, c.Path(), c.Response().Status)
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
