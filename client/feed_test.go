package client_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/client"
)

const (
	firstPage  = `{"items":[{"id":"e1","type":"order.paid","created_at":"2026-03-02T10:00:01.000000Z","subject":"A-1","version":2,"data":{}},{"id":"e2","type":"order.paid","created_at":"2026-03-02T10:00:02.000000Z","subject":"A-2","version":2,"data":{"a":1}}],"next_cursor":"c2"}`
	secondPage = `{"items":[{"id":"e3","type":"order.paid","created_at":"2026-03-02T10:00:03.000000Z","subject":"A-3","version":2,"data":{}}],"next_cursor":"c3"}`
	emptyPage  = `{"items":[],"next_cursor":"c3"}`
)

// entries reads until the feed ends, and returns "id cursor" of each.
func entries(t *testing.T, c *client.Client, after string, f client.Feed) (got []string, err error) {
	t.Helper()
	for e, err := range c.Events(t.Context(), after, f) {
		if err != nil {
			return got, err
		}
		got = append(got, e.ID+" "+e.Cursor)
	}
	return got, nil
}

func TestEvents(t *testing.T) {
	t.Parallel()
	s := serve(t, status(200, firstPage), cut, status(503, `{}`), status(200, secondPage), status(200, emptyPage))
	got, err := entries(t, s.client(t), "c0", client.Feed{Types: []string{"order.paid", "order.cancelled"}, Limit: 2, Wait: -1})
	require.NoError(t, err)
	require.Equal(t, []string{"e1 c0", "e2 c2", "e3 c3"}, got)
	const page = "&type=order.paid%2Corder.cancelled&limit=2 "
	require.Equal(t, []string{
		"GET /v1/events?after=c0" + page, "GET /v1/events?after=c2" + page, "GET /v1/events?after=c2" + page, "GET /v1/events?after=c2" + page,
		"GET /v1/events?after=c3" + page,
	}, s.tries())
}

// Where nothing is new the next request goes on waiting, from the cursor that came.
func TestEventsWait(t *testing.T) {
	t.Parallel()
	s := serve(t, status(200, `{"items":[],"next_cursor":"c1"}`), status(200, secondPage))
	for e, err := range s.client(t).Events(t.Context(), "", client.Feed{}) {
		require.NoError(t, err)
		require.Equal(t, "e3", e.ID)
		break
	}
	require.Equal(t, []string{"GET /v1/events?wait=20 ", "GET /v1/events?after=c1&wait=20 "}, s.tries())
	s = serve(t, status(200, secondPage))
	for range s.client(t).Events(t.Context(), "", client.Feed{Wait: time.Millisecond}) {
		break
	}
	require.Equal(t, []string{"GET /v1/events?wait=1 "}, s.tries())
}

// A page that begins now has at most one event, and does not wait, so that no entry has the cursor now: from there a later reader
// would miss events.
func TestEventsFromNow(t *testing.T) {
	t.Parallel()
	first, one := `{"items":[],"next_cursor":"c0"}`, `{"items":[{"id":"e0","type":"order.paid","created_at":"2026-03-02T10:00:00.000000Z","subject":"A-0","version":2,"data":{}}],"next_cursor":"c0"}`
	for name, c := range map[string]struct {
		now         string
		want, moved []string
	}{
		"nothing new": {first, []string{"e1 c0", "e2 c2"}, []string{"c0"}},
		"a new event": {one, []string{"e0 c0", "e1 c0", "e2 c2"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				page := firstPage
				if q := r.URL.Query(); q.Get("after") == "now" && q.Get("limit") == "1" && !q.Has("wait") {
					page = c.now
				}
				status(200, page)(w, r)
			})
			var got, moved []string
			for e, err := range s.client(t).Events(t.Context(), "now", client.Feed{Types: []string{"order.paid"}, Limit: 2, Moved: func(c string) { moved = append(moved, c) }}) {
				require.NoError(t, err)
				if got = append(got, e.ID+" "+e.Cursor); e.ID == "e2" {
					break
				}
			}
			require.Equal(t, c.want, got)
			require.Equal(t, c.moved, moved)
			require.Equal(t, []string{"GET /v1/events?after=now&type=order.paid&limit=1 ", "GET /v1/events?after=c0&type=order.paid&limit=2&wait=20 "}, s.tries())
		})
	}
	s := serve(t, status(200, first))
	got, err := entries(t, s.client(t), "now", client.Feed{Wait: -1})
	require.NoError(t, err)
	require.Empty(t, got)
	require.Len(t, s.tries(), 1)
}

// Moved is called with a cursor that has passed events of other types, so that the stored cursor does not expire.
func TestEventsMoved(t *testing.T) {
	t.Parallel()
	s := serve(t, status(200, `{"items":[],"next_cursor":"c7"}`), status(200, `{"items":[],"next_cursor":"c7"}`), status(200, secondPage))
	var moved []string
	for e, err := range s.client(t).Events(t.Context(), "c1", client.Feed{Types: []string{"order.paid"}, Moved: func(c string) { moved = append(moved, c) }}) {
		require.NoError(t, err)
		require.Equal(t, "e3", e.ID)
		break
	}
	require.Equal(t, []string{"c7"}, moved)
}

// After a restore of the server's database reading goes on from where the server says, but not in circles.
func TestEventsRestart(t *testing.T) {
	t.Parallel()
	restored := status(410, `{"status":410,"code":"cursor-expired","restart_after":"e1-1"}`)
	s := serve(t, status(200, firstPage), restored, status(200, secondPage), status(200, emptyPage))
	got, err := entries(t, s.client(t), "c0", client.Feed{Wait: -1})
	require.NoError(t, err)
	require.Equal(t, []string{"e1 c0", "e2 c2", "e3 c3"}, got)
	require.Equal(t, []string{"GET /v1/events?after=c0 ", "GET /v1/events?after=c2 ", "GET /v1/events?after=e1-1 ", "GET /v1/events?after=c3 "}, s.tries())

	s = serve(t, restored, restored)
	_, err = entries(t, s.client(t), "c0", client.Feed{Wait: -1})
	var p *client.ProblemError
	require.ErrorAs(t, err, &p)
	require.Equal(t, "cursor-expired", p.Code)
}

func TestEventsEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, status(200, firstPage), status(410, `{"status":410,"code":"cursor-expired"}`))
	got, err := entries(t, s.client(t), "", client.Feed{})
	var p *client.ProblemError
	require.ErrorAs(t, err, &p)
	require.Equal(t, "cursor-expired", p.Code)
	require.Equal(t, []string{"e1 ", "e2 c2"}, got)

	ctx, cancel := context.WithCancel(t.Context())
	waiting := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	for _, err := range waiting.client(t).Events(ctx, "", client.Feed{}) {
		require.ErrorIs(t, err, context.Canceled)
	}
}
