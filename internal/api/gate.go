package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
)

// A Gate checks each request before its operation runs: the caller's identity and rights, the idempotency key of a command,
// and the pages that may read the response. It audits refusals to staff and the actions of staff.
//
// The contract defines the checks of each operation, so that an omission in the code opens no operation.

// Authenticator turns credentials into an actor.
type Authenticator interface {
	Authenticate(ctx context.Context, bearer, onBehalfOf string) (authz.Actor, error)
}

// GateAudit runs act and audits it as an action of staff.
type GateAudit interface {
	Watch(ctx context.Context, who support.Staff, action support.Action, targetType, target string, act func() error) error
}

// Gate makes the checks of a contract. All but Audit and Origins are required.
type Gate struct {
	Contract *contract.Document
	Auth     Authenticator
	// Audit audits staff. With nil the support operations do not exist, and staff's use of other operations is not audited.
	Audit GateAudit
	// Refused gets each refused token, and each support operation that was refused to a caller without a staff role. It must not block.
	Refused func(support.Refusal)
	// CustomersMay are the rights that customers have in addition to the contract's.
	CustomersMay []authz.Right
	// Origins are the origins of pages that may read an attempt with its status token.
	Origins []string
	// Quota limits the invalid commands of one user; the zero value sets no limit.
	Quota idempotency.Quota
	// Now is required with Quota.
	Now func() time.Time
}

// Middlewares returns the checks that the contract requires of each operation, by operation.
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
			chains[op.ID] = append(chains[op.ID], g.authenticate, g.withinScope(op))
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
		chains[op.ID] = append(chains[op.ID], RefuseCardNumbers)
		if filters(op) {
			chains[op.ID] = append(chains[op.ID], knownQuery(op))
		}
		switch {
		case isForStaff(op):
			chains[op.ID] = append(chains[op.ID], g.staffOnly(op))
		case g.Contract.Secured(op):
			chains[op.ID] = append(chains[op.ID], g.audited(op))
		}
		chains[op.ID] = append(chains[op.ID], g.withoutBody(op)...)
	}
	return chains
}

// withoutBody returns the check of a call that takes no body; none for other calls.
func (g *Gate) withoutBody(op *contract.Operation) []echo.MiddlewareFunc {
	if op.RequestBody != nil || op.Method != http.MethodPost || !g.Contract.Secured(op) {
		return nil
	}
	return []echo.MiddlewareFunc{bindNothing}
}

// isForStaff reports whether a call is for staff alone. Its use case audits it.
func isForStaff(op *contract.Operation) bool {
	return slices.Contains(op.Tags, "support") || slices.Contains(op.Tags, keysChapter)
}
