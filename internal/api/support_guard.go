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

// staffOnly stands before the calls of the chapter support, before anything is
// read of them: nobody else finds out what there is.
func (s *server) staffOnly(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := exchangeIn(c).actor.Require(payment.RoleSupport, payment.RoleAdmin); err != nil {
			s.notLetIn(c, support.RefusedAccess, err)
			return err
		}
		if s.Support == nil {
			return problem.Refuse("not-found", "")
		}
		return next(c)
	}
}

// notLetIn has a caller that was refused written down, with who it is as far as that is proven.
func (s *server) notLetIn(c echo.Context, action support.Action, err error) {
	if !errors.Is(err, auth.ErrUnauthenticated) && !errors.Is(err, payment.ErrForbidden) {
		return
	}
	x := exchangeIn(c)
	_, reason, _ := strings.Cut(err.Error(), ": ")
	s.Refused(support.Refusal{Action: action, Staff: x.staff(), Call: x.Method + " " + c.Path(), Reason: reason})
}

// watched has what staff does by a call of another chapter written down.
func (s *server) watched(op *contract.Operation) echo.MiddlewareFunc {
	action := support.Action(op.ID)
	if op.Method == http.MethodGet {
		action += ".view"
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			x := exchangeIn(c)
			if s.Support == nil || !x.actor.Has(payment.RoleSupport, payment.RoleAdmin) {
				return next(c)
			}
			kind, id := named(c)
			return s.Support.Watch(c.Request().Context(), x.staff(), action, kind, id, func() error { return next(c) })
		}
	}
}

// idOf reads an id in a path of the chapter support. A text that is none stands in
// the audit log as an id that nobody knows does.
func idOf[T any](ctx context.Context, s *server, action support.Action, kind, text string, parse func(string) (T, error)) (T, error) {
	id, err := parse(text)
	if err != nil {
		err = s.Support.Refuse(ctx, exchangeOf(ctx).staff(), action, kind, text, err)
	}
	return id, err
}

// named is what a path names.
func named(c echo.Context) (kind, id string) {
	kinds := map[string]string{"order_id": "order", "payment_attempt_id": "attempt", "refund_id": "refund"}
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
