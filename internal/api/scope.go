package api

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// The scopes of API keys are those of the contract: each chapter with calls that need a token has one to read and one to write.

// scopeOf is the scope that a call needs.
func scopeOf(op *contract.Operation) authz.Scope {
	return authz.ScopeOf(op.Chapter(), op.Method == http.MethodGet)
}

// scopesOf lists the scopes of the contract, in order.
func scopesOf(doc *contract.Document) (all []authz.Scope) {
	for _, op := range doc.Operations() {
		if doc.Secured(op) {
			all = append(all, authz.ScopeOf(op.Chapter(), true), authz.ScopeOf(op.Chapter(), false))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Scopes lists the scopes that an API key may have. It panics if the contract can't be read: the build is broken then.
func Scopes() []authz.Scope {
	doc, err := contract.Load(contractfile.Document)
	if err != nil {
		panic(err)
	}
	return scopesOf(doc)
}

// errScope is why, for the audit log.
var errScope = fmt.Errorf("%w: the API key lacks the scope of the call", payment.ErrForbidden)

// withinScope refuses an API key without the scope of the call, before any lookup.
func (g *Gate) withinScope(op *contract.Operation) echo.MiddlewareFunc {
	scope := scopeOf(op)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if !ExchangeIn(c).Actor.MayCall(scope) {
				g.auditRefusal(c, support.RefusedToken, errScope)
				return render.Refuse("forbidden", "Use an API key with the scope "+string(scope)+". This call requires it.")
			}
			return next(c)
		}
	}
}
