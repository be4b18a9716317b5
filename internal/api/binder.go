package api

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/payment"
)

// The binder reads requests. All bodies share one bounded memory. A body must be JSON by the contract, without a card
// number in any member.

// binder reads a body and validates it against the contract, so that a handler gets only valid bodies.
type binder struct {
	BinderOptions
	ops map[string]*contract.Operation
}

// BinderOptions configure a binder. All are required.
type BinderOptions struct {
	Contract *contract.Document
	Bodies   *Bodies
	// Decided returns an error if the sender may not send this body. It gets the parsed body with known members only, or nil for no body.
	Decided func(c echo.Context, op *contract.Operation, body any) error
	// Keep gets each body that was accepted.
	Keep func(c echo.Context, body []byte)
}

// NewBinder returns a binder for the operations of a document.
func NewBinder(o BinderOptions) echo.Binder {
	b := &binder{BinderOptions: o, ops: make(map[string]*contract.Operation)}
	for _, op := range o.Contract.Operations() {
		b.ops[op.Method+" "+RouteOf(op.Path)] = op
	}
	return b
}

// RouteOf is a path of the contract as echo writes it.
func RouteOf(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

// Bind implements echo.Binder. An absent body that may be absent is io.EOF, as
// the generated code expects, and the same request as an empty object.
func (b *binder) Bind(into any, c echo.Context) error {
	r, op := c.Request(), b.ops[c.Request().Method+" "+c.Path()]
	if !isJSON(r.Header) && (r.ContentLength != 0 || len(r.Header.Values(echo.HeaderContentType)) > 0) {
		return render.Refuse("unsupported-media-type", "")
	}
	if op.RequestBody == nil {
		return b.nothing(c)
	}
	body, err := b.Bodies.Read(c, op.RequestBody.MaxBytes)
	switch {
	case err != nil:
		return err
	case len(body) == 0 && !op.RequestBody.Required:
		if err := b.Decided(c, op, nil); err != nil {
			return err
		}
		b.Keep(c, []byte("{}"))
		return io.EOF
	}
	if err := b.check(c, op, body); err != nil {
		return err
	}
	b.Keep(c, body)
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("the contract allows a value that %T can't hold: %w", into, err)
	}
	return nil
}

// mostOfNothing is how many bytes are read of the body of a call that takes none.
const mostOfNothing = 1024

// nothing reads the body of a call that takes none: it may be an empty object.
func (b *binder) nothing(c echo.Context) error {
	body, err := b.Bodies.Read(c, mostOfNothing)
	if err != nil || len(body) == 0 {
		return err
	}
	value, err := contract.ParseJSON(body)
	if err != nil {
		return malformed(err.Error())
	}
	if field := cardNumberIn(value); field != "" {
		return cardNumberRefused(field)
	}
	if members, ok := value.(map[string]any); !ok || len(members) > 0 {
		return malformed("this call takes no members: leave the body out, or send an empty object")
	}
	return nil
}

// bindNothing is the middleware of a call that takes no body, whose handler would not read it.
func bindNothing(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := c.Bind(nil); err != nil {
			return err //nolint:wrapcheck // it is the binder's refusal
		}
		return next(c)
	}
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

func (b *binder) check(c echo.Context, op *contract.Operation, body []byte) error {
	value, err := contract.ParseJSON(body)
	if err != nil {
		return malformed(err.Error())
	}
	if field := cardNumberIn(value); field != "" {
		return cardNumberRefused(field)
	}
	if _, ok := value.(map[string]any); !ok {
		return malformed("the body is not a JSON object")
	}
	found := b.Contract.Check(op.JSON(), value)
	if len(found.Unknown) > 0 {
		return malformed("the member " + found.Unknown[0] + " is not known")
	}
	if err := b.Decided(c, op, value); err != nil {
		return err
	}
	var invalid payment.ValidationError
	for _, m := range found.Invalid {
		invalid.Fields = append(invalid.Fields, payment.FieldError(m))
	}
	if len(invalid.Fields) > 0 {
		return &invalid
	}
	return nil
}
