package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestStream_each_change_until_the_last(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 0)
	s := w.follow("Authorization: Bearer status." + attemptID.String())
	require.Equal(t, "text/event-stream", s.Header.Get("Content-Type"))
	require.Equal(t, "no-store, no-transform", s.Header.Get("Cache-Control"))
	require.Equal(t, "no", s.Header.Get("X-Accel-Buffering"))
	require.Equal(t, "nosniff", s.Header.Get("X-Content-Type-Options"))
	require.NotEmpty(t, s.Header.Get("X-Request-Id"))
	require.Empty(t, s.TransferEncoding, "old proxies understand it, too")
	s.begins()
	require.Equal(t, "pending", w.status(s.event(), "2"))
	a := pending()
	a.Version, a.State = 3, fsm.Authorized
	w.move(a)
	require.Equal(t, "pending", w.status(s.event(), "3"))
	end := succeeded()
	end.Version = 4
	w.move(end)
	last := s.event()
	require.Equal(t, "succeeded", w.status(last, "4"))
	s.ends()
	w.wait(0)

	w.payments.shows(end)
	_, data, _ := strings.Cut(last, "data: ")
	require.JSONEq(t, string(w.send(http.MethodGet, path, "").text), data, "the same as a read shows")
	w.logs(`"route":"/v1/payment-attempts/:payment_attempt_id/stream","status":200`, 1)
}

// status holds an event against its form and returns the attempt's status.
func (w *waiting) status(event, version string) string {
	w.t.Helper()
	head, data, ok := strings.Cut(event, "\ndata: ")
	require.True(w.t, ok, event)
	require.Equal(w.t, "event: status\nid: "+version, head)
	var a struct {
		Status  string      `json:"status"`
		Version json.Number `json:"version"`
	}
	require.NoError(w.t, json.Unmarshal([]byte(data), &a))
	require.Equal(w.t, version, a.Version.String())
	return a.Status
}

func TestStream_last_event_id(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 0)
	s := w.follow("Last-Event-ID: 2")
	s.begins()
	w.wait(1)
	w.move(succeeded())
	require.Equal(t, "succeeded", w.status(s.event(), "3"), "what is known does not come again")
	s.ends()
	w.payments.shows(succeeded())
	for _, last := range []string{"2", "1", "4", "x", ""} {
		s = w.follow("Last-Event-ID: " + last)
		s.begins()
		require.Equal(t, "succeeded", w.status(s.event(), "3"), "what was missed comes at once")
		s.ends()
	}
	got := w.send(http.MethodGet, path+"/stream", "", "Last-Event-ID: 3")
	require.Equal(t, http.StatusNoContent, got.StatusCode, "there is nothing to come again for")
	require.Empty(t, got.text)
}

func TestStream_refused(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 0)
	other := strings.Replace(attemptID.String(), "0", "1", 1)
	w.send(http.MethodGet, path+"/stream", "", "Authorization: -").is(t, 401, "unauthenticated")
	w.send(http.MethodGet, path+"/stream?access_token=u1", "", "Authorization: -").is(t, 401, "unauthenticated")
	w.send(http.MethodGet, "/v1/payment-attempts/x/stream", "").is(t, 403, "forbidden")
	w.send(http.MethodGet, "/v1/payment-attempts/x/stream", "", "Authorization: Bearer support").is(t, 404, "not-found")
	w.payments.err = payment.ErrAttemptNotFound
	w.send(http.MethodGet, "/v1/payment-attempts/"+other+"/stream", "").is(t, 404, "not-found")
	w.payments.err = payment.ErrForbidden
	w.send(http.MethodGet, path+"/stream", "").is(t, 403, "forbidden")
	w.wait(0)
}

func TestStream_head(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 0)
	got := w.send(http.MethodHead, path+"/stream", "")
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Equal(t, "text/event-stream", got.Header.Get("Content-Type"))
	w.wait(0)
}
