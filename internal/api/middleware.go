package api

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/cardnumber"
)

// identify begins the exchange and gives it an id.
func (s *server) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		x := &exchange{
			requestID: identified(c.Response().Header(), r), begun: s.Now(), method: r.Method, context: c, head: isHead(r.Context()),
			peer: c.RealIP(), origin: origin(r.Header),
		}
		// A list may be sent as several headers; from here on each is one.
		for _, name := range []string{"If-None-Match", "Prefer"} {
			if list := r.Header.Values(name); len(list) > 1 {
				r.Header.Set(name, strings.Join(list, ", "))
			}
		}
		c.SetRequest(r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
		return next(c)
	}
}

// Identified gives to answers that are not the API's what each of its own has: the
// request's id, which the request has from then on, and nosniff.
func Identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		identified(w.Header(), r)
		next.ServeHTTP(w, r)
	})
}

// identified writes a request's id on it and on its answer, and returns it.
func identified(answer http.Header, r *http.Request) string {
	id := requestID(r.Header)
	r.Header.Set(echo.HeaderXRequestID, id)
	answer.Set(echo.HeaderXRequestID, id)
	answer.Set(echo.HeaderXContentTypeOptions, "nosniff")
	return id
}

const longestRequestID = 128

// requestID is the caller's, if it can stand in a log as it is.
func requestID(h http.Header) string {
	ids := h.Values(echo.HeaderXRequestID)
	if len(ids) == 1 && ids[0] != "" && len(ids[0]) <= longestRequestID && isVisible(ids[0]) && !cardnumber.In(ids[0]) {
		return ids[0]
	}
	return uuid.Must(uuid.NewV7()).String()
}

// longestOrigin is that of a name in the DNS, with its scheme and port.
const longestOrigin = 272

// origin is the page that a browser says the request comes from, if it can stand in a log as it is.
func origin(h http.Header) string {
	if o := h.Get(echo.HeaderOrigin); len(o) <= longestOrigin && isVisible(o) {
		return o
	}
	return ""
}

func isVisible(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// headAsGet answers HEAD by what GET would say; net/http leaves the body out. A
// webhook is never received that way. It stands before echo, whose router looks
// at the request as it came.
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

// panicked is what was thrown, for the log only.
type panicked struct {
	value any
	stack []byte
}

// Error implements error.
func (p *panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

func recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			switch thrown := recover(); thrown {
			case nil:
			case http.ErrAbortHandler:
				panic(thrown)
			default:
				err = &panicked{thrown, debug.Stack()}
			}
		}()
		return next(c)
	}
}

// realIP believes X-Forwarded-For as far as it comes from trusted proxies.
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
