package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
)

// How many attempts a page has, and how many events one redelivery names.
const (
	usualAttempts = 25
	mostAttempts  = 100
	mostIDs       = 100
)

// mayDeliver returns an *authz.RoleError if the caller's roles do not allow the use of endpoints.
func mayDeliver(ctx context.Context) error {
	return ExchangeOf(ctx).Actor.Require(payment.RoleService, payment.RoleSupport, payment.RoleAdmin)
}

// ListEndpoints handles GET /v1/endpoints.
func (s *server) ListEndpoints(ctx context.Context, _ gen.ListEndpointsRequestObject) (gen.ListEndpointsResponseObject, error) {
	if err := mayDeliver(ctx); err != nil {
		return nil, err
	}
	list, err := s.Endpoints.List(ctx)
	if err = partial(ctx, err); err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.Endpoints(list)}, nil
}

// ListDeliveries handles GET /v1/endpoints/{endpoint}/deliveries.
func (s *server) ListDeliveries(ctx context.Context, r gen.ListDeliveriesRequestObject) (gen.ListDeliveriesResponseObject, error) {
	if err := mayDeliver(ctx); err != nil {
		return nil, err
	}
	before, failed, limit, err := logQuery(r.Params)
	if err != nil {
		return nil, err
	}
	list, err := s.Endpoints.Attempts(ctx, r.Endpoint, before, failed, limit)
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.Deliveries(list, limit)}, nil
}

// logQuery reads which page of a log is wanted.
func logQuery(p gen.ListDeliveriesParams) (before int64, failed bool, limit int, err error) {
	if text := valueOf(p.Cursor); text != "" {
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			return 0, false, 0, payment.Invalid("cursor", "must be the next_cursor of an earlier page")
		}
	}
	switch valueOf(p.Failed) {
	case "true":
		failed = true
	case "", "false":
	default:
		return 0, false, 0, payment.Invalid("failed", "must be true or false")
	}
	limit = usualAttempts
	if text := valueOf(p.Limit); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > mostAttempts {
			return 0, false, 0, payment.Invalid("limit", "must be a whole number from 1 to "+strconv.Itoa(mostAttempts))
		}
	}
	return before, failed, limit, nil
}

// TestEndpoint handles POST /v1/endpoints/{endpoint}/test.
func (s *server) TestEndpoint(ctx context.Context, r gen.TestEndpointRequestObject) (gen.TestEndpointResponseObject, error) {
	if err := mayDeliver(ctx); err != nil {
		return nil, err
	}
	a, err := s.Endpoints.Test(ctx, r.Endpoint)
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.Delivery(a)}, nil
}

// Redeliver handles POST /v1/endpoints/{endpoint}/redeliver.
func (s *server) Redeliver(ctx context.Context, r gen.RedeliverRequestObject) (gen.RedeliverResponseObject, error) {
	if err := mayDeliver(ctx); err != nil {
		return nil, err
	}
	body := valueOf(r.Body)
	if (body.After == nil) == (body.IDs == nil) {
		return nil, payment.Invalid("after", "is required unless `ids` is set; send one of the two")
	}
	redeliver := s.redeliverEvents
	if body.After != nil {
		redeliver = s.redeliverAfter
	}
	if err := redeliver(ctx, r.Endpoint, body); err != nil {
		return nil, err
	}
	list, err := s.Endpoints.List(ctx)
	if err = partial(ctx, err); err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.Endpoints(list)}, nil
}

func (s *server) redeliverAfter(ctx context.Context, name string, body gen.Redeliver) error {
	cursor, err := outbox.ParseCursor(*body.After)
	if err == nil {
		err = s.Endpoints.RedeliverAfter(ctx, name, cursor)
	}
	if errors.Is(err, outbox.ErrCursorInvalid) || errors.Is(err, endpoint.ErrAhead) {
		return payment.Invalid("after", "must be a cursor of the feed that the endpoint has passed")
	}
	return err
}

func (s *server) redeliverEvents(ctx context.Context, name string, body gen.Redeliver) error {
	texts := *body.IDs
	if len(texts) < 1 || len(texts) > mostIDs {
		return payment.Invalid("ids", "must be 1 to "+strconv.Itoa(mostIDs)+" ids")
	}
	ids := make([]uuid.UUID, len(texts))
	for i, text := range texts {
		var err error
		if ids[i], err = uuid.Parse(text); err != nil {
			return payment.Invalid(fmt.Sprintf("ids[%d]", i), "must be the id of an event")
		}
	}
	err := s.Endpoints.RedeliverEvents(ctx, name, ids)
	if unknown, found := errors.AsType[*endpoint.UnknownError](err); found {
		return payment.Invalid("ids", "contains events that the endpoint was not sent or that were deleted: "+unknown.IDs[0].String())
	}
	return err
}
