package api

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
)

// SupportOverview handles GET /v1/support/overview.
func (s *server) SupportOverview(ctx context.Context, _ gen.SupportOverviewRequestObject) (gen.SupportOverviewResponseObject, error) {
	o, err := s.Overview.Overview(ctx, ExchangeOf(ctx).Staff())
	if err = partial(ctx, err); err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportOverview(o)}, nil
}
