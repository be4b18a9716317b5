package api

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/payment"
)

// ListSettlements handles GET /v1/settlements.
func (s *server) ListSettlements(ctx context.Context, _ gen.ListSettlementsRequestObject) (gen.ListSettlementsResponseObject, error) {
	return listed(ctx, lists.Settlements, s.Lists.Settlements, render.Settlement)
}

// ListPayouts handles GET /v1/payouts.
func (s *server) ListPayouts(ctx context.Context, _ gen.ListPayoutsRequestObject) (gen.ListPayoutsResponseObject, error) {
	return listed(ctx, lists.Payouts, s.Lists.Payouts, render.Payout)
}

// ListReconciliations handles GET /v1/reconciliations.
func (s *server) ListReconciliations(ctx context.Context, _ gen.ListReconciliationsRequestObject) (gen.ListReconciliationsResponseObject, error) {
	return listed(ctx, lists.Reconciliations, s.Lists.Reconciliations, render.Reconciliation)
}

// ReadPayout handles GET /v1/payouts/{payout_id}.
func (s *server) ReadPayout(ctx context.Context, r gen.ReadPayoutRequestObject) (gen.ReadPayoutResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := payment.ParsePayoutID(r.PayoutID)
	if err != nil {
		return nil, x.Actor.Unseen(err)
	}
	p, err := s.Lists.Payout(ctx, x.Actor, id)
	if err != nil {
		return nil, err
	}
	x.Account = p.Account
	return response{http.StatusOK, render.Payout(p)}, nil
}
