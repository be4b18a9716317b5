package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

// staffOnly runs first in each operation for staff, before any data is read: other callers can't learn which objects exist.
func (g *Gate) staffOnly(op *contract.Operation) echo.MiddlewareFunc {
	roles := []payment.Role{payment.RoleSupport, payment.RoleAdmin}
	if op.Chapter() == keysChapter {
		roles = roles[1:]
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if err := ExchangeIn(c).Actor.Require(roles...); err != nil {
				g.auditRefusal(c, support.RefusedAccess, err)
				return err
			}
			if g.Audit == nil {
				return render.Refuse("not-found", "")
			}
			return next(c)
		}
	}
}

// auditRefusal has a refused caller written into the audit log, with the identity that is proven.
func (g *Gate) auditRefusal(c echo.Context, action support.Action, err error) {
	if !errors.Is(err, auth.ErrUnauthenticated) && !errors.Is(err, payment.ErrForbidden) {
		return
	}
	x := ExchangeIn(c)
	_, reason, _ := strings.Cut(err.Error(), ": ")
	g.Refused(support.Refusal{Action: action, Staff: x.Staff(), Call: x.Method + " " + c.Path(), Reason: reason})
}

// audited writes an operation outside of the support chapter into the audit log if staff calls it.
func (g *Gate) audited(op *contract.Operation) echo.MiddlewareFunc {
	action := actionOf(op)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			x := ExchangeIn(c)
			if g.Audit == nil || !x.Actor.Has(payment.RoleSupport, payment.RoleAdmin) {
				return next(c)
			}
			kind, id := target(c)
			if filters(op) {
				kind, id = "filter", c.QueryString()
			}
			return g.Audit.Watch(c.Request().Context(), x.Staff(), action, kind, id, func() error { return next(c) })
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

// target returns the kind and the id of the object that a path names.
func target(c echo.Context) (kind, id string) {
	kinds := map[string]string{"order_id": "order", "payment_attempt_id": "attempt", "refund_id": "refund", "payout_id": "payout", "endpoint": "endpoint"}
	for _, name := range c.ParamNames() {
		if kinds[name] != "" {
			return kinds[name], PathParam(c, name)
		}
	}
	return "", ""
}
