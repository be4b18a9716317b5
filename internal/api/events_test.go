package api_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
)

var _ api.Events = (*outbox.Feed)(nil)

// feed returns a page or an error, and records the query.
type feed struct {
	page  outbox.Page
	err   error
	after outbox.Cursor
	types []string
	limit int
	wait  time.Duration
}

func (f *feed) Read(_ context.Context, after outbox.Cursor, types []string, limit int, wait time.Duration) (outbox.Page, error) {
	f.after, f.types, f.limit, f.wait = after, types, limit, wait
	return f.page, f.err
}

const asService = "Authorization: Bearer service"

func TestReadEvents(t *testing.T) {
	t.Parallel()
	f := &feed{page: outbox.Page{Next: outbox.Cursor{Position: 12}, Events: []outbox.Event{{
		Position: 12, ID: uuid.MustParse("8e6d1f5a-3c0b-5b6e-9a53-2f1e7d4c8b90"), Type: outbox.OrderPaid, Subject: "A-1", Version: 2,
		Payload: []byte(`{"order_id":"A-1"}`), CreatedAt: now,
	}}}}
	var reads []string
	b := newBench(t, func(o *api.Options) {
		o.Events = f
		o.FeedRead = func(reader string, after outbox.Position, began time.Time) {
			reads = append(reads, fmt.Sprint(reader, " ", after, " ", began.Equal(now)))
		}
	})
	got := b.send(http.MethodGet, "/v1/events?after=11&type=order.paid,refund.failed&limit=5&wait=90", "", asService)
	require.Equal(t, http.StatusOK, got.StatusCode)
	want := `{"items":[{"id":"8e6d1f5a-3c0b-5b6e-9a53-2f1e7d4c8b90","type":"order.paid","created_at":"2026-03-01T09:30:00.120000Z",` +
		`"subject":"A-1","version":2,"data":{"order_id":"A-1"}}],"next_cursor":"12"}` + "\n"
	require.Equal(t, want, string(got.text), "to the byte")
	require.Equal(t, feed{f.page, nil, outbox.Cursor{Position: 11}, []string{"order.paid", "refund.failed"}, 5, time.Minute}, *f)

	f.page = outbox.Page{Next: outbox.Cursor{Position: 12}}
	got = b.send(http.MethodGet, "/v1/events", "", asService, "Prefer: wait=3")
	require.JSONEq(t, `{"items":[],"next_cursor":"12"}`, string(got.text))
	require.Equal(t, "wait=3", got.Header.Get("Preference-Applied"))
	require.Equal(t, feed{f.page, nil, outbox.Beginning(), nil, 100, 3 * time.Second}, *f)

	require.Equal(t, http.StatusOK, b.send(http.MethodGet, "/v1/events?after=now", "", asService).StatusCode)
	require.Equal(t, outbox.End(), f.after)

	f.page.Events = []outbox.Event{{Position: 9, Payload: []byte("{}")}, {Position: 12, Payload: []byte("{}")}}
	b.send(http.MethodGet, "/v1/events", "", asService)
	f.err = outbox.ErrCursorExpired
	b.send(http.MethodGet, "/v1/events?after=3", "", asService).is(t, 410, "cursor-expired")
	require.Equal(t, []string{"service 11 true", "service 12 true", "service 12 true", "service 8 true"}, reads, "who is refused has not read")
}

func TestReadEventsRefuses(t *testing.T) {
	t.Parallel()
	f := &feed{}
	b := newBench(t, func(o *api.Options) { o.Events = f })
	for query, field := range map[string]string{
		"after=x": "after", "after=-1": "after", "type=order.payed": "type", "type=order.paid,": "type", "limit=0": "limit", "limit=1001": "limit", "limit=x": "limit",
		"wait=x": "wait",
	} {
		got := b.send(http.MethodGet, "/v1/events?"+query, "", asService)
		got.is(t, 422, "validation-failed")
		require.Contains(t, string(got.text), `"field":"`+field+`"`, query)
	}
	for _, role := range []string{"u1", "support", "admin"} {
		b.send(http.MethodGet, "/v1/events", "", "Authorization: Bearer "+role).is(t, 403, "forbidden")
	}
	b.send(http.MethodGet, "/v1/events", "", "Authorization: -").is(t, 401, "unauthenticated")

	f.err = outbox.ErrCursorExpired
	gone := b.send(http.MethodGet, "/v1/events?after=3", "", asService)
	gone.is(t, 410, "cursor-expired")
	require.NotContains(t, string(gone.text), `"restart_after"`)
	f.err = &outbox.ExpiredError{RestartAfter: outbox.Cursor{Epoch: 36, Position: 4}}
	restored := b.send(http.MethodGet, "/v1/events?after=3", "", asService)
	restored.is(t, 410, "cursor-expired")
	require.Contains(t, string(restored.text), `"restart_after":"10-4"`)
	f.err = outbox.ErrCursorInvalid
	ahead := b.send(http.MethodGet, "/v1/events?after=3", "", asService)
	ahead.is(t, 422, "validation-failed")
	require.Contains(t, string(ahead.text), "next_cursor")
	f.err = payment.ErrUnavailable
	b.send(http.MethodGet, "/v1/events", "", asService).is(t, 503, "storage-unavailable")
}
