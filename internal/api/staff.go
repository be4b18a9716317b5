package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/api/problem"
	"github.com/paylatch/paylatch/internal/api/request"
	"github.com/paylatch/paylatch/internal/auth"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/support"
)

// staffOnly stands before the calls of the chapter support, before anything is read of them: others can't find out what
// exists.
func (s *server) staffOnly(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := exchangeIn(c).actor.Require(payment.RoleSupport, payment.RoleAdmin); err != nil {
			s.auditRefusal(c, support.RefusedAccess, err)
			return err
		}
		if s.Support == nil {
			return problem.Refuse("not-found", "")
		}
		return next(c)
	}
}

// auditRefusal has a refused caller written into the audit log, with the identity that is proven.
func (s *server) auditRefusal(c echo.Context, action support.Action, err error) {
	if !errors.Is(err, auth.ErrUnauthenticated) && !errors.Is(err, payment.ErrForbidden) {
		return
	}
	x := exchangeIn(c)
	_, reason, _ := strings.Cut(err.Error(), ": ")
	s.Refused(support.Refusal{Action: action, Staff: x.staff(), Call: x.Method + " " + c.Path(), Reason: reason})
}

// audited has what staff does by a call of another chapter written into the audit log.
func (s *server) audited(op *contract.Operation) echo.MiddlewareFunc {
	action := actionOf(op)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			x := exchangeIn(c)
			if s.Support == nil || !x.actor.Has(payment.RoleSupport, payment.RoleAdmin) {
				return next(c)
			}
			kind, id := target(c)
			return s.Support.Watch(c.Request().Context(), x.staff(), action, kind, id, func() error { return next(c) })
		}
	}
}

// actionOf is the name of a call in the audit log: the contract's, unless the console has the same action under another one.
func actionOf(op *contract.Operation) support.Action {
	switch {
	case op.ID == "testEndpoint":
		return support.TestedEndpoint
	case op.ID == "redeliver":
		return support.Redelivered
	case op.Method == http.MethodGet:
		return support.Action(op.ID + ".view")
	}
	return support.Action(op.ID)
}

// idOf reads an id in a path of the chapter support. A text that is none is audited like an id that does not exist.
func idOf[T any](ctx context.Context, s *server, action support.Action, kind, text string, parse func(string) (T, error)) (T, error) {
	id, err := parse(text)
	if err != nil {
		err = s.Support.Refuse(ctx, exchangeOf(ctx).staff(), action, kind, text, err)
	}
	return id, err
}

// target is what a path names.
func target(c echo.Context) (kind, id string) {
	kinds := map[string]string{"order_id": "order", "payment_attempt_id": "attempt", "refund_id": "refund", "endpoint": "endpoint"}
	for _, name := range c.ParamNames() {
		if kinds[name] != "" {
			return kinds[name], request.PathParam(c, name)
		}
	}
	return "", ""
}

func isSupport(op *contract.Operation) bool { return slices.Contains(op.Tags, "support") }

const (
	// searchesEach a second, and as many at once, are more than a person types.
	searchesEach   = 5
	searchesAtOnce = 50
)
