package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"os"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/api/problem"
	"github.com/paylatch/paylatch/internal/api/strictjson"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/throttle"
)

// maxBody is how many bytes of a body are read.
const maxBody = 1 << 20

// binder reads a body as the contract describes it: what reaches a handler has
// been found to be valid.
type binder struct {
	doc  *contract.Document
	read func(c echo.Context) ([]byte, error)
	ops  map[string]*contract.Operation
}

func newBinder(doc *contract.Document, read func(c echo.Context) ([]byte, error)) *binder {
	b := &binder{doc: doc, read: read, ops: make(map[string]*contract.Operation)}
	for _, op := range doc.Operations() {
		b.ops[op.Method+" "+echoPath(op.Path)] = op
	}
	return b
}

// Bind implements echo.Binder. An absent body that may be absent is io.EOF, as
// the generated code expects, and the same request as an empty object.
func (b *binder) Bind(into any, c echo.Context) error {
	r, op := c.Request(), b.ops[c.Request().Method+" "+c.Path()]
	if !isJSON(r.Header) && (r.ContentLength != 0 || len(r.Header.Values(echo.HeaderContentType)) > 0) {
		return problem.Refuse("unsupported-media-type", "")
	}
	body, err := b.read(c)
	switch {
	case err != nil:
		return err
	case len(body) == 0 && !op.RequestBody.Required:
		exchangeIn(c).body = []byte("{}")
		return io.EOF
	}
	if err := b.check(op.JSON(), body); err != nil {
		return err
	}
	exchangeIn(c).body = body
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("the contract allows what %T can't hold: %w", into, err)
	}
	return nil
}

func isJSON(h http.Header) bool {
	types := h.Values(echo.HeaderContentType)
	if len(types) != 1 || h.Get(echo.HeaderContentEncoding) != "" {
		return false
	}
	media, params, err := mime.ParseMediaType(types[0])
	charset, named := params["charset"]
	return err == nil && media == echo.MIMEApplicationJSON && (!named || strings.EqualFold(charset, "utf-8"))
}

func (b *binder) check(s *contract.Schema, body []byte) error {
	value, err := strictjson.Parse(body)
	if err != nil {
		return malformed(err.Error())
	}
	if field := cardNumberIn(value); field != "" {
		return cardNumberRefused(field)
	}
	if _, ok := value.(map[string]any); !ok {
		return malformed("the body is not a JSON object")
	}
	found := b.doc.Check(s, value)
	if len(found.Unknown) > 0 {
		return malformed("the member " + found.Unknown[0] + " is not known")
	}
	var invalid payment.ValidationError
	for _, m := range found.Mistakes {
		invalid.Fields = append(invalid.Fields, payment.FieldError(m))
	}
	if len(invalid.Fields) > 0 {
		return &invalid
	}
	return nil
}

func malformed(reason string) error {
	return problem.Refuse("malformed-request", "Correct the request and send it again: "+reason+".")
}

// readBody reads a whole body, or says whose fault it is that it can't. The server
// gives a request so long to arrive (NewHTTPServer); where there is no room for it the
// connection is closed, so that nothing more of it is read.
func (s *server) readBody(c echo.Context) ([]byte, error) {
	r := c.Request()
	if r.ContentLength > maxBody {
		return nil, tooLarge(r)
	}
	peer := throttle.Network(senderOf(c))
	body, err := s.uploads.read(http.MaxBytesReader(c.Response().Writer, r.Body, maxBody), r.ContentLength, peer)
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return body, nil
	case errors.Is(err, errNoRoom):
		c.Response().Header().Set(echo.HeaderConnection, "close")
		return nil, problem.Refuse("overloaded", "Send the same request again after Retry-After, all of its body at once.")
	case errors.As(err, &large):
		return nil, tooLarge(r)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, problem.Refuse("request-timeout", "")
	case r.Context().Err() != nil && !errors.Is(err, io.ErrUnexpectedEOF): // who stopped sending may still read
		return nil, r.Context().Err() //nolint:wrapcheck // it is matched, never shown
	}
	return nil, malformed("the body broke off")
}

// senderOf is the address of whoever sent a request, behind a proxy that is trusted.
func senderOf(c echo.Context) netip.Addr {
	address, _ := netip.ParseAddr(c.RealIP())
	return address.Unmap()
}

// drained is how much of a body that is too large is read and thrown away.
const drained = 8 << 20

// tooLarge takes what is on its way: a connection that is closed while its peer
// still writes is reset, and the peer would never see the answer. One that waits
// to be asked for its body has nothing on its way.
func tooLarge(r *http.Request) error {
	if r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, drained)
	}
	return problem.Refuse("body-too-large", "")
}
