package api

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/platform/throttle"
)

// Bodies reads bodies into the room that all of them share. The zero value is ready.
type Bodies struct{ room room }

// Read reads a whole body of at most limit bytes, or returns a refusal. Where there is no room for it the connection is closed, so that nothing
// more of it is read. The server limits the time of its arrival.
func (b *Bodies) Read(c echo.Context, limit int64) ([]byte, error) {
	r := c.Request()
	if r.ContentLength > limit {
		return nil, tooLarge(r)
	}
	peer := throttle.Network(Sender(c))
	body, err := b.room.read(http.MaxBytesReader(c.Response().Writer, r.Body, limit), r.ContentLength, peer)
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return body, nil
	case errors.Is(err, errNoRoom):
		c.Response().Header().Set(echo.HeaderConnection, "close")
		return nil, render.Refuse("overloaded", "Send the same request again after Retry-After, with the whole body at once.")
	case errors.As(err, &large):
		return nil, tooLarge(r)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, render.Refuse("request-timeout", "")
	case r.Context().Err() != nil && !errors.Is(err, io.ErrUnexpectedEOF): // a peer that has stopped sending may still read
		return nil, r.Context().Err() //nolint:wrapcheck // it is matched, never shown
	}
	return nil, malformed("the body is incomplete")
}

// Sender is the address that a request comes from, behind a proxy that is trusted.
func Sender(c echo.Context) netip.Addr {
	address, _ := netip.ParseAddr(c.RealIP())
	return address.Unmap()
}

// drained is how much of a body that is too large is read and thrown away.
const drained = 8 << 20

// tooLarge drains a part of the body: if a connection is closed while its peer still writes, it is reset, and the peer would
// never see the response. A peer that expects 100 Continue has sent nothing yet.
func tooLarge(r *http.Request) error {
	if r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, drained)
	}
	return render.Refuse("body-too-large", "")
}

func malformed(reason string) error {
	return render.Refuse("malformed-request", "Correct the request and send it again: "+reason+".")
}

// PathParam is a segment of the path, decoded. echo leaves it as it came if the path was written unusually.
func PathParam(c echo.Context, name string) string {
	text := c.Param(name)
	if c.Request().URL.RawPath == "" {
		return text
	}
	decoded, err := url.PathUnescape(text)
	if err != nil {
		return ""
	}
	return decoded
}
