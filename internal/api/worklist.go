package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// SupportDiscrepancies handles GET /v1/support/discrepancies.
func (s *server) SupportDiscrepancies(ctx context.Context, r gen.SupportDiscrepanciesRequestObject) (gen.SupportDiscrepanciesResponseObject, error) {
	p := r.Params
	page, err := support.ParsePage(valueOf(p.Cursor), valueOf(p.Limit))
	if err != nil {
		return nil, err
	}
	list, next, err := s.Worklist.List(ctx, ExchangeOf(ctx).Staff(), worklist.Filter{
		Status: valueOf(p.Status), Kind: valueOf(p.Kind), Account: valueOf(p.Account), Assignee: valueOf(p.Assignee),
		OpenedFrom: valueOf(p.OpenedFrom), OpenedTo: valueOf(p.OpenedTo), Order: valueOf(p.Order),
	}, page)
	if err = partial(ctx, err); err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportDiscrepancies(list, next)}, nil
}

// SupportDiscrepancy handles GET /v1/support/discrepancies/{discrepancy_id}.
func (s *server) SupportDiscrepancy(ctx context.Context, r gen.SupportDiscrepancyRequestObject) (gen.SupportDiscrepancyResponseObject, error) {
	id, err := idOf(ctx, s, support.ViewedDiscrepancy, "discrepancy", r.DiscrepancyID, payment.ParseDiscrepancyID)
	if err != nil {
		return nil, err
	}
	return discrepancy(http.StatusOK)(s.Worklist.Entry(ctx, ExchangeOf(ctx).Staff(), id))
}

// SupportAssign handles POST /v1/support/discrepancies/{discrepancy_id}/assign.
func (s *server) SupportAssign(ctx context.Context, r gen.SupportAssignRequestObject) (gen.SupportAssignResponseObject, error) {
	id, err := idOf(ctx, s, support.Assigned, "discrepancy", r.DiscrepancyID, payment.ParseDiscrepancyID)
	if err != nil {
		return nil, err
	}
	body := valueOf(r.Body)
	return discrepancy(http.StatusOK)(s.Worklist.Assign(ctx, ExchangeOf(ctx).Staff(), worklist.Assign{
		ID: id, Assignee: nameOrNull(body.Assignee), Expected: nameOrNull(body.ExpectedAssignee), Reason: valueOf(body.Reason),
	}))
}

// SupportComment handles POST /v1/support/discrepancies/{discrepancy_id}/comments.
func (s *server) SupportComment(ctx context.Context, r gen.SupportCommentRequestObject) (gen.SupportCommentResponseObject, error) {
	id, err := idOf(ctx, s, support.Commented, "discrepancy", r.DiscrepancyID, payment.ParseDiscrepancyID)
	if err != nil {
		return nil, err
	}
	x := ExchangeOf(ctx)
	e, result, err := s.Worklist.Comment(ctx, x.Staff(), worklist.AddComment{ID: id, Text: valueOf(r.Body).Text, Key: x.Key})
	if err == nil {
		x.SetResult(result)
	}
	return discrepancy(http.StatusCreated)(e, err)
}

// SupportResolve handles POST /v1/support/discrepancies/{discrepancy_id}/resolve.
func (s *server) SupportResolve(ctx context.Context, r gen.SupportResolveRequestObject) (gen.SupportResolveResponseObject, error) {
	x, body := ExchangeOf(ctx), valueOf(r.Body)
	id, err := idOf(ctx, s, support.Resolved, "discrepancy", r.DiscrepancyID, payment.ParseDiscrepancyID)
	if err != nil {
		return nil, err
	}
	return discrepancy(http.StatusOK)(s.Worklist.Resolve(ctx, x.Staff(), worklist.Resolve{Resolve: commands.Resolve{
		ID: id, Resolution: payment.Resolution(body.Resolution), ProviderPaymentID: valueOf(body.ProviderPaymentID), Reason: valueOf(body.Reason),
	}}))
}

// discrepancy renders the result of a call.
func discrepancy(status int) func(worklist.Entry, error) (response, error) {
	return func(e worklist.Entry, err error) (response, error) {
		if err != nil {
			return response{}, err
		}
		return response{status, render.SupportDiscrepancy(e)}, nil
	}
}

// nameOrNull reads an optional member: nil if it is absent, empty for null, else its text. The contract has checked its type.
func nameOrNull(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	var name string
	_ = json.Unmarshal(raw, &name)
	return &name
}
