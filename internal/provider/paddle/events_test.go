package paddle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/dev/published"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/paddle"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/paddle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var day = time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)

type event struct{ ID, Raw string }

// fake serves the events in pages of two, the newest first.
func fake(events []event) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if r.Method != http.MethodGet || r.URL.Path != "/events" || r.Header.Get("Authorization") != "Bearer key" || query.Get("order_by") != "id[DESC]" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Request-Id", "r")
		from := 1 + slices.IndexFunc(events, func(e event) bool { return query.Has("after") && e.ID == query.Get("after") })
		to := min(from+2, len(events))
		data := []json.RawMessage{}
		for _, e := range events[from:to] {
			data = append(data, json.RawMessage(e.Raw))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"data": data, "meta": map[string]any{"request_id": "x", "pagination": map[string]any{"per_page": 2, "has_more": to < len(events), "next": "https://elsewhere.example/"}},
		})
	})
}

func reader(t *testing.T) *hooks.Verifier {
	t.Helper()
	v, err := hooks.New(webhooks.Config{Secrets: []string{"pdl_ntfset_secret"}})
	require.NoError(t, err)
	return v
}

func read(t *testing.T, body []byte) webhooks.Event {
	t.Helper()
	return reader(t).Read(webhooks.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: body})[0]
}

func TestEvents(t *testing.T) {
	t.Parallel()
	providertest.EventLog(t, providertest.EventLogSuite{
		New:    func(_ *testing.T, base string, c *http.Client) gateway.EventLog { return paddle.New(base, "key", c) },
		Reader: reader(t),
		Listed: func(t *testing.T) providertest.Listed {
			t.Helper()
			listed := providertest.Listed{Span: gateway.Span{From: day, To: day.AddDate(0, 0, 1)}}
			var all []event
			for i, hour := range []int{30, 25, 20, 19, 20, 2, 1, 0, -1, -30, -31, -32, -33} {
				at := day.Add(time.Duration(hour) * time.Hour)
				e := event{ID: fmt.Sprintf("evt_%02d", 90-i)}
				e.Raw = fmt.Sprintf(`{"event_id":%q,"event_type":"transaction.completed","occurred_at":%q,"data":{"id":"txn_%d","status":"completed","currency_code":"EUR","details":{"totals":{"grand_total":"1999"}}}}`,
					e.ID, at.Format(time.RFC3339Nano), i)
				all = append(all, e)
				if listed.Span.Has(at) {
					listed.Events = append(listed.Events, gateway.ListedEvent{Body: []byte(e.Raw), At: at})
				}
			}
			listed.Fake = fake(all)
			return listed
		},
	})
}

// The list is not read to its end. Reading stops with the page that contains older events.
func TestEventsStopAtWhatIsOlder(t *testing.T) {
	t.Parallel()
	var requests int
	h := fake([]event{
		{"evt_3", `{"event_id":"evt_3","occurred_at":"2026-03-14T01:00:00Z"}`},
		{"evt_2", `{"event_id":"evt_2","occurred_at":"2026-03-10T01:00:00Z"}`},
		{"evt_1", `{"event_id":"evt_1","occurred_at":"2026-03-09T01:00:00Z"}`},
	})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	passed := 0
	require.NoError(t, paddle.New(s.URL, "key", s.Client()).Events(t.Context(), gateway.Span{From: day, To: day.AddDate(0, 0, 1)}, func(gateway.ListedEvent) error {
		passed++
		return nil
	}))
	require.Equal(t, []int{1, 1}, []int{passed, requests})
}

// The next page can't start after an event without an id. It starts after the last event with an id.
func TestEventsGoOnAfterOneWithoutAnID(t *testing.T) {
	t.Parallel()
	readable := func(id string) event {
		return event{id, `{"event_id":"` + id + `","occurred_at":"2026-03-14T01:00:00Z"}`}
	}
	for _, tt := range []struct {
		events []event
		passed int
		gave   bool
	}{
		{[]event{readable("evt_4"), {"", `{"occurred_at":"2026-03-14T01:00:00Z"}`}, readable("evt_3"), readable("evt_2")}, 3, true},
		{[]event{readable("evt_4"), {"evt_3", `{"event_id":"evt_3"}`}, readable("evt_2")}, 2, true},
		{[]event{{"", `{}`}, {"", `null`}, readable("evt_2")}, 0, false},
	} {
		s := httptest.NewServer(fake(tt.events))
		t.Cleanup(s.Close)
		passed := 0
		err := paddle.New(s.URL, "key", s.Client()).Events(t.Context(), gateway.Span{From: day, To: day.AddDate(0, 0, 1)}, func(gateway.ListedEvent) error {
			passed++
			return nil
		})
		require.Error(t, err)
		require.Equal(t, tt.gave, errors.Is(err, gateway.ErrUnreadable), "%v", err)
		require.Equal(t, tt.passed, passed)
	}
}

// TestEventsOfTheSamples reads the list in the tests of Paddle's own library, if it is available.
func TestEventsOfTheSamples(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(published.Path(t, published.Payloads, "paddle/testdata_events.json"))
	require.NoError(t, err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("after") {
			_, _ = io.WriteString(w, `{"data":[],"meta":{"pagination":{"has_more":false}}}`)
			return
		}
		_, _ = w.Write(raw)
	}))
	t.Cleanup(s.Close)
	passed := 0
	require.NoError(t, paddle.New(s.URL, "key", s.Client()).Events(t.Context(), gateway.Span{To: day}, func(e gateway.ListedEvent) error {
		passed++
		require.NotEqual(t, webhooks.KindUnreadable, read(t, e.Body).Kind, string(e.Body))
		return nil
	}))
	require.Positive(t, passed)
}
