package api

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/payment"
)

// ReadDispute handles GET /v1/disputes/{dispute_id}.
func (s *server) ReadDispute(ctx context.Context, r gen.ReadDisputeRequestObject) (gen.ReadDisputeResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := payment.ParseDisputeID(r.DisputeID)
	if err != nil {
		return nil, x.Actor.Unseen(err)
	}
	x.Dispute = id.String()
	read, err := s.Reads.Dispute(ctx, x.Actor, id)
	if err != nil {
		return nil, err
	}
	x.AboutDispute(read)
	return response{http.StatusOK, render.Dispute(read)}, nil
}
