package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/outbox"
)

var _ api.Endpoints = (*endpoint.Service)(nil)

// endpoints returns its content or an error, and records the last call.
type endpoints struct {
	list     []endpoint.Status
	attempts []endpoint.Attempt
	err      error
	call     []any
}

func (e *endpoints) List(context.Context) ([]endpoint.Status, error) { return e.list, nil }

func (e *endpoints) Attempts(_ context.Context, name string, before int64, failed bool, limit int) ([]endpoint.Attempt, error) {
	e.call = []any{name, before, failed, limit}
	return e.attempts, e.err
}

func (e *endpoints) Test(_ context.Context, name string) (endpoint.Attempt, error) {
	e.call = []any{name}
	return e.attempts[0], e.err
}

func (e *endpoints) RedeliverAfter(_ context.Context, name string, cursor outbox.Cursor) error {
	e.call = []any{name, cursor}
	return e.err
}

func (e *endpoints) RedeliverEvents(_ context.Context, name string, ids []uuid.UUID) error {
	e.call = []any{name, ids}
	return e.err
}

const deliveredID = "8e6d1f5a-3c0b-5b6e-9a53-2f1e7d4c8b90"

func endpointBench(t *testing.T) (*bench, *endpoints) {
	t.Helper()
	e := &endpoints{
		list: []endpoint.Status{{
			Name: "shop", Host: "shop.example", State: endpoint.Active, Behind: 1, Retries: 2, Dead: 3, Oldest: now, LastFailure: &failedAt, LastError: "503 x",
		}},
		attempts: []endpoint.Attempt{{Number: 7, EventID: uuid.MustParse(deliveredID), At: now, Took: 15 * time.Second, Error: "no response within 15s"}},
	}
	return newBench(t, func(o *api.Options) { o.Endpoints = e }), e
}

var failedAt = now

func TestEndpoints(t *testing.T) {
	t.Parallel()
	b, e := endpointBench(t)
	const list = `{"items":[{"name":"shop","host":"shop.example","state":"active","behind":1,"retries":2,"dead":3,` +
		`"oldest_undelivered_at":"2026-03-01T09:30:00.120000Z","last_success_at":null,"last_failure_at":"2026-03-01T09:30:00.120000Z","last_failure":"503 x"}]}`
	got := b.send(http.MethodGet, "/v1/endpoints", "", asService)
	require.JSONEq(t, list, string(got.text))

	const attempt = `{"event_id":"` + deliveredID + `","at":"2026-03-01T09:30:00.120000Z","delivered":false,"status":null,"took_ms":15000,"error":"no response within 15s"}`
	got = b.send(http.MethodGet, "/v1/endpoints/shop/deliveries?failed=true&cursor=9&limit=1", "", asService)
	require.JSONEq(t, `{"items":[`+attempt+`],"next_cursor":"7"}`, string(got.text))
	require.Equal(t, []any{"shop", int64(9), true, 1}, e.call)
	got = b.send(http.MethodGet, "/v1/endpoints/shop/deliveries", "", asService)
	require.Contains(t, string(got.text), `"next_cursor":null`)
	require.Equal(t, []any{"shop", int64(0), false, 25}, e.call)

	got = b.send(http.MethodPost, "/v1/endpoints/shop/test", "", asService)
	require.JSONEq(t, attempt, string(got.text))

	got = b.send(http.MethodPost, "/v1/endpoints/shop/redeliver", `{"after":"11"}`, asService)
	require.JSONEq(t, list, string(got.text))
	require.Equal(t, []any{"shop", outbox.Cursor{Position: 11}}, e.call)
	b.send(http.MethodPost, "/v1/endpoints/shop/redeliver", `{"after":""}`, asService)
	require.Equal(t, []any{"shop", outbox.Beginning()}, e.call)
	b.send(http.MethodPost, "/v1/endpoints/shop/redeliver", `{"ids":["`+deliveredID+`"]}`, asService)
	require.Equal(t, []any{"shop", []uuid.UUID{uuid.MustParse(deliveredID)}}, e.call)
}

func TestEndpointsRefuse(t *testing.T) {
	t.Parallel()
	b, e := endpointBench(t)
	for body, field := range map[string]string{
		`{}`: "after", `{"after":"1","ids":["` + deliveredID + `"]}`: "after", `{"after":"x"}`: "after", `{"ids":[]}`: "ids", `{"ids":["x"]}`: "ids[0]",
	} {
		got := b.send(http.MethodPost, "/v1/endpoints/shop/redeliver", body, asService)
		got.is(t, 422, "validation-failed")
		require.Contains(t, string(got.text), `"field":"`+field+`"`, body)
	}
	for query, field := range map[string]string{"cursor=x": "cursor", "cursor=0": "cursor", "limit=101": "limit", "failed=1": "failed"} {
		got := b.send(http.MethodGet, "/v1/endpoints/shop/deliveries?"+query, "", asService)
		got.is(t, 422, "validation-failed")
		require.Contains(t, string(got.text), `"field":"`+field+`"`, query)
	}
	e.err = endpoint.ErrNotFound
	for _, path := range []string{"GET deliveries", "POST test", "POST redeliver"} {
		method, last, _ := strings.Cut(path, " ")
		body := map[string]string{"redeliver": `{"after":"1"}`}[last]
		b.send(method, "/v1/endpoints/other/"+last, body, asService).is(t, 404, "not-found")
	}
	e.err = endpoint.ErrAhead
	b.send(http.MethodPost, "/v1/endpoints/shop/redeliver", `{"after":"1"}`, asService).is(t, 422, "validation-failed")
	e.err = &endpoint.UnknownError{IDs: []uuid.UUID{uuid.MustParse(deliveredID)}}
	b.send(http.MethodPost, "/v1/endpoints/shop/redeliver", `{"ids":["`+deliveredID+`"]}`, asService).is(t, 422, "validation-failed")
	e.err = outbox.ErrCursorExpired
	expired := b.send(http.MethodPost, "/v1/endpoints/shop/redeliver", `{"after":"1"}`, asService)
	expired.is(t, 410, "cursor-expired")
}

func TestEndpointRoles(t *testing.T) {
	t.Parallel()
	b, _ := endpointBench(t)
	for _, call := range []string{
		"GET /v1/endpoints", "GET /v1/endpoints/shop/deliveries", "POST /v1/endpoints/shop/test", "POST /v1/endpoints/shop/redeliver ",
	} {
		line := strings.Split(call, " ")
		body := ""
		if len(line) == 3 {
			body = `{"after":"1"}`
		}
		for _, role := range []string{"u1", "service", "support", "admin"} {
			got := b.send(line[0], line[1], body, "Authorization: Bearer "+role)
			if role == "u1" {
				got.is(t, 403, "forbidden")
				continue
			}
			require.Equal(t, http.StatusOK, got.StatusCode, "%s: %s", role, call)
		}
		b.send(line[0], line[1], body, "Authorization: -").is(t, 401, "unauthenticated")
	}
}
