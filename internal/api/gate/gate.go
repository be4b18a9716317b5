// Package gate is what stands before the API's operations: who calls, whether the call is open to them, whether a command has
// its key, and which pages may read the response. What it refuses to staff, and what staff does, it has audited.
//
// It takes what each operation requires from the contract, so that no operation is open by an omission in the code.
package gate

import (
	"context"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/api/request"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/support"
)

// Authenticator turns credentials into an actor.
type Authenticator interface {
	Authenticate(ctx context.Context, bearer, onBehalfOf string) (authz.Actor, error)
}

// Audit audits what staff does by act, and runs it.
type Audit interface {
	Watch(ctx context.Context, who support.Staff, action support.Action, targetType, target string, act func() error) error
}

// Gate makes the checks of a contract. All but Audit and Origins are required.
type Gate struct {
	Contract *contract.Document
	Auth     Authenticator
	// Audit watches staff; nil leaves the calls for staff out, and what staff does by the others out of the audit log.
	Audit Audit
	// Refused gets each refused token, and each call for staff that was refused to others. It must not block.
	Refused func(support.Refusal)
	// CustomersMay is what customers may decide beside what the contract always leaves to them.
	CustomersMay []authz.Right
	// Origins are those of pages that may read an attempt with its status token.
	Origins []string
	// Quota is how many commands of one user may be refused for what they are; the zero value allows any number.
	Quota idempotency.Quota
	// Now is required with Quota.
	Now func() time.Time
}

// Middlewares puts before each operation what the contract requires, so that no operation is open by an omission here.
func (g *Gate) Middlewares() map[string][]echo.MiddlewareFunc {
	chains := make(map[string][]echo.MiddlewareFunc)
	costs := newRefusals(g.Quota, g.Now)
	for _, op := range g.Contract.Operations() {
		key, keyed := op.Parameter("header", idempotency.HeaderKey)
		if op.Accepts(statusToken) {
			chains[op.ID] = append(chains[op.ID], g.shareWithPages)
		}
		if keyed {
			chains[op.ID] = append(chains[op.ID], echoKey)
		}
		if g.Contract.Secured(op) {
			chains[op.ID] = append(chains[op.ID], g.authenticate)
		}
		if !op.Accepts(statusToken) {
			chains[op.ID] = append(chains[op.ID], g.refuseStatusToken)
		}
		if costs != nil && g.Contract.Secured(op) && op.RequestBody != nil {
			chains[op.ID] = append(chains[op.ID], costs.count)
		}
		switch {
		case keyed && key.Required:
			chains[op.ID] = append(chains[op.ID], requireKey)
		case keyed:
			chains[op.ID] = append(chains[op.ID], allowKey)
		}
		chains[op.ID] = append(chains[op.ID], request.RefuseCardNumbers)
		if filters(op) {
			chains[op.ID] = append(chains[op.ID], knownQuery(op))
		}
		switch {
		case isSupport(op):
			chains[op.ID] = append(chains[op.ID], g.staffOnly)
		case g.Contract.Secured(op):
			chains[op.ID] = append(chains[op.ID], g.audited(op))
		}
	}
	return chains
}

func isSupport(op *contract.Operation) bool { return slices.Contains(op.Tags, "support") }
